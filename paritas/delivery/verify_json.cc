#include "paritas/delivery/verify.h"
#include "paritas/project/check.h"

namespace paritas {

Json to_json(const VerifyResult& result) {
  Json checks = Json::array();
  for (const PackageCheck& check : result.checks)
    checks.push_back({{"id", check.id},
                      {"verdict", name(check.verdict)},
                      {"text", check.text},
                      {"shows", check.shows},
                      {"does_not_show", check.does_not_show}});
  Json parts = Json::array();
  for (const VerifiedPart& part : result.parts)
    parts.push_back({{"name", part.name},
                     {"open_seconds", json_number(part.open_seconds)},
                     {"placement", to_json(part.placement)}});
  Json libraries = Json::array();
  for (const PackageLibrary& library : result.here.libraries)
    libraries.push_back({{"name", library.name}, {"version", library.version}, {"sha256", library.sha256}});
  return {{"schema", "paritas.verify/1"},
          {"verdict", name(result.verdict)},
          {"reasons", result.reasons},
          {"package", result.package},
          {"manifest_sha256", result.manifest_sha256},
          {"source", {{"name", result.source_name}, {"sha256", result.source_sha256}}},
          {"checks", std::move(checks)},
          {"parts", std::move(parts)},
          {"cpu_parts", result.cpu_parts ? to_json(*result.cpu_parts) : Json()},
          {"chain", result.chain ? to_json(*result.chain) : Json()},
          {"environment",
           {{"differences", result.environment},
            {"host", result.here.host},
            {"libraries", std::move(libraries)},
            {"device", result.here.device}}},
          {"notes", result.notes},
          {"seconds", json_number(result.seconds)}};
}

Json summary_json(const VerifyResult& result) {
  Json json = to_json(result);
  json["package"] = Path(result.package).filename().string();
  for (const char* judged : {"cpu_parts", "chain"})
    if (json[judged].is_object()) json[judged]["project"] = judged;
  return json;
}

}  // namespace paritas
