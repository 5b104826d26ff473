#include "paritas/report/package_report.h"

#include <fmt/format.h>

#include "paritas/report/reports.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

std::string plural(uint64_t count, const std::string& what) {
  return fmt::format("{} {}{}", with_thousands(count), what, count == 1 ? "" : "s");
}

std::string parts_table(const Manifest& m, const Style& style) {
  Table table({"part", "file", "target", "nodes on it", "compiled", "inputs", "outputs"},
              {false, false, false, true, false, false, false});
  const auto names = [](const std::vector<PackagePort>& ports) {
    std::string text;
    for (const PackagePort& port : ports) text += (text.empty() ? "" : ", ") + port.tensor;
    return text;
  };
  for (const PackagePart& part : m.parts)
    table.row({part.name, part.file, part.target,
               part.placement.total() == 0
                   ? "not known"
                   : fmt::format("{} of {}", part.placement.on(part.placement.requested), part.placement.total()),
               part.compiled ? "yes" : "no", names(part.inputs), names(part.outputs)});
  return table.render(style);
}

std::string boundary_table(const Manifest& m, const Style& style) {
  Table table({"handed over", "in the model", "type", "shape", "bytes"}, {false, false, false, false, true});
  for (const PackageCut& cut : m.cuts)
    for (const BoundaryTensor& tensor : cut.tensors)
      table.row({tensor.name, tensor.source, std::string(name(tensor.dtype)), to_string(tensor.shape),
                 with_thousands(tensor.bytes)});
  return table.empty() ? "" : table.render(style) + "\n";
}

std::string ports_text(const std::vector<ContractPort>& ports, const std::string& title, const Style& style) {
  std::string out;
  for (const ContractPort& port : ports)
    out += fmt::format("{}{} {} {}{}{}\n",
                       out.empty() ? bold(style, title) + std::string(12 - title.size(), ' ') : std::string(12, ' '),
                       visible(port.name), name(port.dtype), to_string(port.shape),
                       port.role.empty() ? "" : ", " + port.role,
                       port.meaning.empty() ? "" : ": " + visible(port.meaning));
  return out;
}

}  // namespace

std::string terminal(const Package& package, const Style& style) {
  const Manifest& m = package.manifest;
  std::string out = fmt::format("{}: package of {}, {}, made {}\n", visible(package.folder.string()),
                                visible(m.source_name), plural(m.parts.size(), "part"), visible(m.created));
  out += fmt::format("{} whole: each has the SHA-256 that SHA256SUMS and the manifest give. Nothing was run.\n\n",
                     plural(m.files.size() + 1, "file"));
  out += ports_text(m.inputs, "inputs", style) + ports_text(m.outputs, "outputs", style) + "\n";
  out += parts_table(m, style) + "\n" + boundary_table(m, style);
  if (m.verification.is_object() && m.verification.contains("verdict"))
    out += fmt::format("verified when it was made: {} (paritas verify does it again)\n",
                       visible(m.verification["verdict"].dump()));
  else
    out += "not verified yet: paritas verify\n";
  out += plural(m.timings.size(), "round") + " of paritas bench stored\n";
  for (const std::string& note : m.notes) out += dim(style, "note: " + note) + "\n";
  return out;
}

Json to_json(const Package& package) {
  return {{"schema", "paritas.inspect/1"},
          {"path", package.folder.string()},
          {"kind", "package"},
          {"manifest_sha256", package.manifest_sha256},
          {"manifest", to_json(package.manifest)}};
}

}  // namespace paritas
