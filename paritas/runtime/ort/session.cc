#include "paritas/runtime/ort/session.h"

#include <chrono>
#include <map>

#include <fmt/format.h>

#include "paritas/runtime/ort/session_impl.h"
#include "paritas/runtime/ort/values.h"
#include "paritas/runtime/sim/operators.h"

namespace paritas::ort {
namespace {

Result<sim::ActivePerturbations::Table> active_table(const Injection& injection) {
  sim::ActivePerturbations::Table table;
  for (const auto& [list, mode] : {std::pair(&injection.replace, sim::Perturbation::Mode::kReplace),
                                   std::pair(&injection.add, sim::Perturbation::Mode::kAdd)})
    for (const auto& [key, tensor] : *list) {
      PARITAS_ASSIGN(TensorView view, TensorView::of(tensor));
      table.insert_or_assign(key, sim::Perturbation{mode, std::move(view)});
    }
  return table;
}

}  // namespace

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;
const SessionInfo& Session::info() const { return impl_->info; }

Result<std::vector<std::string>> Session::Impl::checked_fetch(const std::vector<std::string>& wanted) const {
  std::vector<std::string> names;
  if (wanted.empty()) {
    for (const PortInfo& output : info.outputs) names.push_back(output.name);
    return names;
  }
  std::map<std::string, const PortInfo*> known;
  for (const PortInfo& output : info.outputs) known[output.name] = &output;
  for (const std::string& name : wanted) {
    if (known.count(name) == 0) return input_error(subject, fmt::format("has no output \"{}\"", name));
    names.push_back(name);
  }
  return names;
}

Result<Session::Ran> Session::run(const Order& order, const Path& file) {
  return guarded(impl_->subject, fmt::format("running on {}", impl_->target), [&]() -> Result<Ran> {
    const auto& inputs = order.inputs;
    PARITAS_TRY(check_ports(inputs, impl_->info, impl_->subject));
    if (order.steps > 0)
      return usage_error(impl_->subject, "steps are for networks that keep a state inside, as TFLite models can",
                         "feed the state through its own inputs, a sample a call");
    std::vector<std::string> fetch = impl_->fetch;
    if (!order.fetch.empty()) {
      PARITAS_ASSIGN(fetch, impl_->checked_fetch(order.fetch));
    }
    std::vector<Fed> fed(inputs.size());
    std::vector<const char*> input_names, output_names;
    std::vector<Ort::Value> input_values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      PARITAS_ASSIGN(fed[i], feed(inputs[i].second));
      input_names.push_back(inputs[i].first.c_str());
      input_values.push_back(std::move(fed[i].value));
    }
    for (const std::string& name : fetch) output_names.push_back(name.c_str());
    PARITAS_ASSIGN(auto active, active_table(order.injection));
    const sim::ActivePerturbations scope(std::move(active));
    const auto start = std::chrono::steady_clock::now();
    std::vector<Ort::Value> outputs = impl_->session.Run(Ort::RunOptions{}, input_names.data(), input_values.data(),
                                                         input_values.size(), output_names.data(), output_names.size());
    Ran ran;
    ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    PARITAS_ASSIGN(ran.outputs, store(fetch, outputs, file, impl_->subject));
    return ran;
  });
}

}  // namespace paritas::ort
