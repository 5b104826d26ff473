#include "paritas/monitor/record.h"

namespace paritas {
namespace {

// One list of fields for both directions, so that none can be forgotten in one of them.
class Writer {
 public:
  Json json = Json::object();
  void field(const char* key, const double& value) { json[key] = json_number(value); }
  void field(const char* key, const bool& value) { json[key] = value; }
  void field(const char* key, const uint64_t& value) { json[key] = value; }
  void field(const char* key, const int64_t& value) { json[key] = value; }
  void field(const char* key, const std::string& value) { json[key] = value; }
  template <class E>
  void choice(const char* key, const E& value, int) {
    json[key] = static_cast<int>(value);
  }
};

class Reader {
 public:
  explicit Reader(const Json& from) : json(from) {}
  const Json& json;
  bool good = true;

  void field(const char* key, double& value) {
    const Json* found = find(key);
    const auto number = found == nullptr ? std::nullopt : number_from_json(*found);
    if (number)
      value = *number;
    else
      good = false;
  }
  void field(const char* key, bool& value) { take(key, value, &Json::is_boolean); }
  void field(const char* key, uint64_t& value) { take(key, value, &Json::is_number_unsigned); }
  void field(const char* key, int64_t& value) { take(key, value, &Json::is_number_integer); }
  void field(const char* key, std::string& value) { take(key, value, &Json::is_string); }
  template <class E>
  void choice(const char* key, E& value, int last) {
    int64_t number = -1;
    field(key, number);
    if (number < 0 || number > last)
      good = false;
    else
      value = static_cast<E>(number);
  }

 private:
  const Json* find(const char* key) const {
    if (!json.is_object()) return nullptr;
    const auto it = json.find(key);
    return it == json.end() ? nullptr : &*it;
  }
  template <class T>
  void take(const char* key, T& value, bool (Json::*is)() const noexcept) {
    const Json* found = find(key);
    if (found != nullptr && (found->*is)())
      value = found->get<T>();
    else
      good = false;
  }
};

template <class Io, class T>
void visit_layer(Io& io, T& layer) {
  io.field("problem", layer.problem);
  io.field("flag", layer.flag);
  io.field("undecided", layer.undecided);
  io.field("nonfinite", layer.nonfinite);
  io.field("gated", layer.gated);
  io.choice("verdict", layer.verdict, static_cast<int>(Verdict::kPass));
  io.field("rule", layer.rule);
  io.field("baseline", layer.baseline);
}

template <class Io, class T>
void visit_channel(Io& io, T& channel) {
  io.field("low", channel.low);
  io.field("high", channel.high);
  io.field("sum", channel.sum);
  io.field("squares", channel.squares);
  io.field("count", channel.count);
}

template <class Io, class T>
void visit_row(Io& io, T& row) {
  io.field("sample", row.sample);
  io.field("row", row.row);
  io.field("classes", row.classes);
  io.choice("top1", row.top1, static_cast<int>(Agreement::kDifferent));
  io.choice("topk", row.topk, static_cast<int>(Agreement::kDifferent));
  io.field("same_order", row.same_order);
  io.field("max_probability_difference", row.max_probability_difference);
  io.field("max_probability_difference_class", row.max_probability_difference_class);
  io.field("mean_probability_difference", row.mean_probability_difference);
  io.field("first_probability_difference", row.first_probability_difference);
  io.field("kl_divergence", row.kl_divergence);
  io.field("device_only_infinite", row.device_only_infinite);
}

template <class Io, class T>
void visit_side(Io& io, T& side) {
  io.choice("fault", side.fault, static_cast<int>(RowFault::kNoDistribution));
  io.field("constant", side.constant);
  io.field("digest", side.digest);
}

Json json_of(const ClassificationSide& side) {
  Writer out;
  visit_side(out, side);
  out.json["top"] = Json::array();
  for (const auto& top : side.top) out.json["top"].push_back({top.class_index, json_number(top.probability)});
  out.json["first"] = side.first;
  out.json["hit"] = side.hit ? Json(static_cast<int>(*side.hit)) : Json(nullptr);
  return out.json;
}

bool all_integers(const Json& json) {
  if (!json.is_array()) return false;
  for (const Json& each : json)
    if (!each.is_number_integer()) return false;
  return true;
}

bool read_side(const Json& json, ClassificationSide& side) {
  Reader in(json);
  visit_side(in, side);
  if (!in.good || !json.contains("top") || !json["top"].is_array() || !json.contains("first") ||
      !all_integers(json["first"]) || !json.contains("hit"))
    return false;
  for (const Json& top : json["top"]) {
    if (!top.is_array() || top.size() != 2 || !top[0].is_number_integer()) return false;
    const auto probability = number_from_json(top[1]);
    if (!probability) return false;
    side.top.push_back({top[0].get<int64_t>(), *probability});
  }
  side.first = json["first"].get<std::vector<int64_t>>();
  const Json& hit = json["hit"];
  if (hit.is_null()) return true;
  if (!hit.is_number_integer() || hit.get<int64_t>() < 0 || hit.get<int64_t>() > static_cast<int>(LabelHit::kWrong))
    return false;
  side.hit = static_cast<LabelHit>(hit.get<int>());
  return true;
}

Json json_of(const ClassificationSample& sample) {
  Json rows = Json::array(), issues = Json::array();
  for (const ClassificationRow& row : sample.rows) {
    Writer out;
    visit_row(out, row);
    out.json["label"] = row.label ? Json(*row.label) : Json(nullptr);
    out.json["reference"] = json_of(row.reference);
    out.json["device"] = json_of(row.device);
    rows.push_back(std::move(out.json));
  }
  for (const TaskIssue& issue : sample.issues) issues.push_back({static_cast<int>(issue.verdict), issue.text});
  return {{"rows", rows}, {"issues", issues}};
}

bool read_task(const Json& json, ClassificationSample& sample) {
  if (!json.is_object() || !json.contains("rows") || !json["rows"].is_array() || !json.contains("issues") ||
      !json["issues"].is_array())
    return false;
  for (const Json& each : json["rows"]) {
    ClassificationRow row;
    Reader in(each);
    visit_row(in, row);
    if (!in.good || !each.contains("label") || !each.contains("reference") || !each.contains("device")) return false;
    if (each["label"].is_number_integer())
      row.label = each["label"].get<int64_t>();
    else if (!each["label"].is_null())
      return false;
    if (!read_side(each["reference"], row.reference) || !read_side(each["device"], row.device)) return false;
    sample.rows.push_back(std::move(row));
  }
  for (const Json& issue : json["issues"]) {
    if (!issue.is_array() || issue.size() != 2 || !issue[0].is_number_integer() || !issue[1].is_string()) return false;
    const auto verdict = issue[0].get<int64_t>();
    if (verdict < 0 || verdict >= static_cast<int>(Verdict::kPass)) return false;
    sample.issues.push_back({static_cast<Verdict>(verdict), issue[1].get<std::string>()});
  }
  return true;
}

Json json_of(const LayerRecord& layer) {
  Writer out;
  visit_layer(out, layer);
  out.json["metrics"] = Json::object();
  for (const auto& [metric, value] : layer.metrics) out.json["metrics"][metric] = json_number(value);
  return out.json;
}

bool read_layer(const Json& json, LayerRecord& layer) {
  Reader in(json);
  visit_layer(in, layer);
  if (!in.good || !json.contains("metrics") || !json["metrics"].is_object()) return false;
  for (const auto& [metric, value] : json["metrics"].items()) {
    const auto number = number_from_json(value);
    if (!number) return false;
    layer.metrics[metric] = *number;
  }
  return true;
}

Json json_of(const InputRecord& input) {
  Json channels = Json::array();
  for (const ChannelSums& channel : input.channels) {
    Writer out;
    visit_channel(out, channel);
    channels.push_back(std::move(out.json));
  }
  return {{"name", input.name}, {"channels", channels}, {"constant", input.constant}, {"saturated", input.saturated}};
}

bool read_input(const Json& json, InputRecord& input) {
  Reader in(json);
  in.field("name", input.name);
  in.field("constant", input.constant);
  in.field("saturated", input.saturated);
  if (!in.good || !json.contains("channels") || !json["channels"].is_array()) return false;
  for (const Json& each : json["channels"]) {
    Reader channel(each);
    visit_channel(channel, input.channels.emplace_back());
    if (!channel.good) return false;
  }
  return true;
}

template <class T, class Read>
bool read_all(const Json& json, const char* key, std::vector<T>& into, Read read) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_array()) return false;
  for (const Json& each : *it)
    if (!read(each, into.emplace_back())) return false;
  return true;
}

template <class T>
Json write_all(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(json_of(value));
  return json;
}

}  // namespace

Json to_json(const MonitorRecord& record) {
  return {{"id", record.id},
          {"file", record.file},
          {"layers", write_all(record.layers)},
          {"inputs", write_all(record.inputs)},
          {"tasks", write_all(record.tasks)}};
}

Result<MonitorRecord> monitor_record_from_json(const Json& json, const std::string& subject) {
  MonitorRecord record;
  Reader in(json);
  in.field("id", record.id);
  in.field("file", record.file);
  if (!in.good || !read_all(json, "layers", record.layers, read_layer) ||
      !read_all(json, "inputs", record.inputs, read_input) || !read_all(json, "tasks", record.tasks, read_task))
    return input_error(subject, "is no record of a monitored sample", "delete it to run the sample again");
  return record;
}

}  // namespace paritas
