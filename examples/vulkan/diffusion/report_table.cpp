// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include "format.hpp"

#include <functional>

namespace examples::diffusion {
namespace {

std::string name_in_table(const char* name) {
  return format("\n%-24s", name);
}

std::string times(const Series& series) {
  return milliseconds(series.median()) + "  (" + milliseconds(series.least()) + " to " +
         milliseconds(series.most()) + ")";
}

long long as_long(std::int64_t number) {
  return number;
}

double ratio(double value, double to) {
  return to == 0 ? 0 : value / to;
}

/// A row of the table of forms: its name and how a form's figure reads.
struct Row {
  const char* name;
  std::function<std::string(const FormResult&)> figure;
};

std::vector<Row> rows_of_forms() {
  const auto median = [](const FormResult& form) {
    return static_cast<double>(form.step.median());
  };
  return {
      {"a step, median", [](const FormResult& form) { return milliseconds(form.step.median()); }},
      {"  least", [](const FormResult& form) { return milliseconds(form.step.least()); }},
      {"  most", [](const FormResult& form) { return milliseconds(form.step.most()); }},
      {"until it is submitted",
       [](const FormResult& form) { return milliseconds(form.prepare.median()); }},
      {"  of the step",
       [median](const FormResult& form) {
         return format("%.2f %%",
                       100 * ratio(static_cast<double>(form.prepare.median()), median(form)));
       }},
      {"device memory, peak", [](const FormResult& form) { return mebibytes(form.peak_nbytes); }},
      {"dispatches", [](const FormResult& form) { return format("%.1f", form.dispatches); }},
      {"barriers", [](const FormResult& form) { return format("%.1f", form.barriers); }},
      {"bytes copied", [](const FormResult& form) { return mebibytes(form.bytes_copied); }},
      {"submissions", [](const FormResult& form) { return format("%.1f", form.submissions); }},
      {"largest difference",
       [](const FormResult& form) { return format("%.3g", form.difference); }},
  };
}

std::string table_of_forms(const std::vector<FormResult>& forms) {
  std::string text = "\n\nA step on the device:\n";
  for (const FormResult& form : forms) {
    text += format("  %-12s %s\n", form.kind->name, form.kind->about);
  }
  text += name_in_table("");
  for (const FormResult& form : forms) {
    text += format(" %14s", form.kind->name);
  }
  for (const Row& row : rows_of_forms()) {
    text += name_in_table(row.name);
    for (const FormResult& form : forms) {
      text += format(" %14s", row.figure(form).c_str());
    }
  }
  return text;
}

std::string table_of(const DeviceResult& device) {
  const SnapshotResult& snapshots = device.snapshots;
  std::string text =
      name_in_table("the step's graph") + format("%zu operators", device.graph_nodes);
  text += name_in_table("snapshots") + format("%zu of ", snapshots.count) +
          mebibytes(snapshots.nbytes) + " in all";
  text += name_in_table("  to take one") + times(snapshots.take);
  text += name_in_table("  copied by later steps") + mebibytes(snapshots.bytes_copied);
  text += name_in_table("  device memory, peak") + mebibytes(snapshots.peak_nbytes);
  text +=
      name_in_table("a lazy clone") +
      format("%lld ns  (%lld ns to %lld ns); of the host's memory %lld ns  (%lld ns to %lld ns)",
             as_long(device.device_clone.median()), as_long(device.device_clone.least()),
             as_long(device.device_clone.most()), as_long(device.host_clone.median()),
             as_long(device.host_clone.least()), as_long(device.host_clone.most()));
  text += name_in_table("uploaded, downloaded") + mebibytes(device.bytes_uploaded) + ", " +
          mebibytes(device.bytes_downloaded);
  return text + table_of_forms(device.forms);
}

std::string lines_of(const std::vector<Ratio>& ratios) {
  std::string text;
  for (const Ratio& ratio : ratios) {
    text += format("\n%s beside %s: %.2f times the time (%.2f to %.2f), %.2f times the memory",
                   ratio.form->kind->name, ratio.beside->kind->name, ratio.time, ratio.least_time,
                   ratio.most_time, ratio.memory);
  }
  return ratios.empty() ? text : "\n" + text;
}

}  // namespace

std::string table(const Report& report) {
  const Plan& plan = report.options.plan;
  std::string text =
      format("%zu x %zu cells, two fields of f32 = ", plan.size, plan.size) +
      mebibytes(plan.grid_nbytes()) + format(", %zu steps", plan.steps) +
      (report.device ? ", on the host and on\n" + report.device->name : ", on the host") + "\n" +
      name_in_table("a step on the host") + times(report.host.step);
  if (report.device) {
    text += table_of(*report.device) + lines_of(ratios_of(report));
  }
  if (report.frames != 0) {
    text += "\n\n" + std::to_string(report.frames) + " frames were written.";
  }
  const std::size_t faults = faults_of(report).size();
  if (faults != 0) {
    return text + format("\n\n%zu things are WRONG.\n", faults);
  }
  if (!report.device) {
    return text + "\n";
  }
  return text + format(
                    "\n\nSnapshots: %zu, each what a run from the beginning has, bit for bit. The "
                    "last fields are\n"
                    "within %g of the host's.\n",
                    report.device->snapshots.count, bound);
}

}  // namespace examples::diffusion
