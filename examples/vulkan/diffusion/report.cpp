// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include "format.hpp"

#include <algorithm>

namespace examples::diffusion {
namespace {

const FormResult* result_of(const DeviceResult& device, const FormKind& kind) {
  const auto found = std::find_if(device.forms.begin(), device.forms.end(),
                                  [&kind](const FormResult& form) { return form.kind == &kind; });
  return found == device.forms.end() ? nullptr : &*found;
}

Series of_repetition(const Series& series, std::size_t repetition, std::size_t steps) {
  const auto begin = series.ns.begin() + static_cast<std::ptrdiff_t>(repetition * steps);
  return {{begin, begin + static_cast<std::ptrdiff_t>(steps)}};
}

Ratio ratio_of(const FormResult& form, const FormResult& beside, const Options& options) {
  std::vector<double> ratios;
  for (std::size_t repetition = 0; repetition < options.repetitions; ++repetition) {
    const auto median = [&](const FormResult& of) {
      return static_cast<double>(of_repetition(of.step, repetition, options.plan.steps).median());
    };
    ratios.push_back(median(form) / std::max(1.0, median(beside)));
  }
  std::sort(ratios.begin(), ratios.end());
  return {.form = &form,
          .beside = &beside,
          .time = ratios[ratios.size() / 2],
          .least_time = ratios.front(),
          .most_time = ratios.back(),
          .memory = static_cast<double>(form.peak_nbytes) /
                    static_cast<double>(std::max<std::uint64_t>(1, beside.peak_nbytes))};
}

}  // namespace

std::vector<Ratio> ratios_of(const Report& report) {
  std::vector<Ratio> ratios;
  if (!report.device) {
    return ratios;
  }
  const auto add = [&](const FormKind& kind, const FormKind& beside) {
    const FormResult* const form = result_of(*report.device, kind);
    const FormResult* const other = result_of(*report.device, beside);
    if (form != nullptr && other != nullptr) {
      ratios.push_back(ratio_of(*form, *other, report.options));
    }
  };
  add(captured_form, by_operator_form);
  add(captured_form, fused_form);
  add(captured_form, naive_form);
  return ratios;
}

std::vector<std::string> faults_of(const Report& report) {
  std::vector<std::string> faults;
  if (!report.device) {
    return faults;
  }
  for (const std::size_t step : report.device->snapshots.differing) {
    faults.push_back("The snapshot of step " + std::to_string(step) +
                     " is not what a run from the beginning has there.");
  }
  for (const FormResult& form : report.device->forms) {
    if (!(form.difference <= bound)) {
      faults.push_back(std::string("The last fields of form ") + form.kind->name + " differ by " +
                       format("%.3g", form.difference) + " from the host's, more than " +
                       format("%.3g.", bound));
    }
  }
  if (report.device->validation_messages != 0) {
    faults.push_back("The validation layer had " +
                     std::to_string(report.device->validation_messages) + " messages.");
  }
  return faults;
}

}  // namespace examples::diffusion
