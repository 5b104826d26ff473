#include "paritas/runtime/tflite/plan.h"

#include "paritas/tflite/model.h"

namespace paritas::tflite {

std::unique_ptr<Spy> Spy::make(const Api& api) {
  if (api.opaque_delegate_create == nullptr || api.opaque_delegate_delete == nullptr || api.context_plan == nullptr ||
      api.context_node == nullptr || api.operator_code == nullptr || api.operator_custom_name == nullptr ||
      api.node_builtin_data == nullptr)
    return nullptr;
  std::unique_ptr<Spy> spy(new Spy(api));
  OpaqueDelegateBuilder builder{};
  builder.data = spy.get();
  builder.prepare = &prepare;
  builder.flags = OpaqueDelegateBuilder::kAllowDynamicTensors;  // else a model with free shapes is refused for its sake
  spy->delegate_ = api.opaque_delegate_create(&builder);
  return spy->delegate_ == nullptr ? nullptr : std::move(spy);
}

Spy::~Spy() {
  if (delegate_ != nullptr) api_.opaque_delegate_delete(delegate_);
}

int Spy::prepare(void* context, void*, void* self) {
  auto& spy = *static_cast<Spy*>(self);
  // Delegates are offered every graph of the model, the main graph first.
  if (spy.plan_.known) return 0;
  if (!spy.read(context)) spy.plan_ = {};
  return 0;
}

bool Spy::read(void* context) {
  IntArray* order = nullptr;
  if (api_.context_plan(context, &order) != 0 || order == nullptr) return false;
  for (int i = 0; i < order->size; ++i) {
    void *node = nullptr, *operation = nullptr;
    if (api_.context_node(context, order->data[i], &node, &operation) != 0) return false;
    if (api_.operator_code(operation) != kDelegateOperator) {
      plan_.on_host.push_back(order->data[i]);
      continue;
    }
    const auto* params = static_cast<const DelegateParams*>(api_.node_builtin_data(node));
    if (params == nullptr || params->nodes_to_replace == nullptr) return false;
    Partition partition;
    if (const char* name = api_.operator_custom_name(operation)) partition.delegate = name;
    const IntArray& nodes = *params->nodes_to_replace;
    partition.ops.assign(nodes.data, nodes.data + nodes.size);
    plan_.partitions.push_back(std::move(partition));
  }
  plan_.known = true;
  return true;
}

}  // namespace paritas::tflite
