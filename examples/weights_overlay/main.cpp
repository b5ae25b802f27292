// SPDX-License-Identifier: BSL-1.0
// weights_overlay: serves many requests, each with its own changes to one model. See ../README.md.
#include "format.hpp"
#include "on_threads.hpp"
#include "process_memory.hpp"
#include "request.hpp"
#include "run_program.hpp"
#include "same_bits.hpp"
#include "temporary_directory.hpp"

#include <byre/observe/counters.hpp>

#include <algorithm>

namespace examples::weights_overlay {
namespace {

struct Plan {
  std::size_t layers;
  std::int64_t width;
  std::size_t requests;
  std::size_t changed;  ///< layers that each request changes
  std::size_t rows;     ///< rows that each request changes in each of these layers
};

/// A method of giving each request its own weights.
struct Variant {
  const char* name;
  bool is_mapped;
  Cloning cloning;
};
constexpr Variant variants[] = {{"deep copies", true, Cloning::deep},
                                {"lazy, loaded", false, Cloning::lazy},
                                {"lazy, mapped", true, Cloning::lazy}};

struct Run {
  Json figures;
  std::vector<std::vector<float>> outputs;  ///< outputs of the requests, then of their branches
  bool has_expected_rows = true;
};

double median_ms(std::vector<std::int64_t> times_ns) {
  const auto middle = times_ns.begin() + static_cast<std::ptrdiff_t>(times_ns.size() / 2);
  std::nth_element(times_ns.begin(), middle, times_ns.end());
  return static_cast<double>(*middle) / 1e6;
}

Run run(const Variant& variant, const std::filesystem::path& folder, const Plan& plan) {
  // resident_nbytes() first releases free memory, which another variant may have left behind.
  const auto resident = resident_nbytes("Anonymous");
  std::vector<Request> requests(2 * plan.requests);
  std::vector<std::int64_t> set_up(plan.requests), change(plan.requests), branch(plan.requests);
  const auto counted = byre::stats::snapshot();
  Model base;
  const std::int64_t open_ns =
      time_ns([&] { base = open_model(folder, plan.layers, variant.is_mapped); });
  on_threads(plan.requests, [&](std::size_t number) {
    Request& request = requests[number];
    Request& child = requests[plan.requests + number];
    set_up[number] = time_ns([&] { request.set_up(base, variant.cloning); });
    change[number] = time_ns([&] { request.change(plan.changed, plan.rows, number); });
    branch[number] = time_ns([&] {
      child.set_up(request, variant.cloning);
      child.change(plan.changed, plan.rows, plan.requests + number);
    });
  });
  const auto gained = resident_nbytes("Anonymous");
  const auto copied = byre::stats::snapshot() - counted;

  Run result;
  std::size_t overlays = 0, shared = 0;
  for (const Request& request : requests) {
    // Outputs are computed after the branch was changed, to check that the request is unaffected.
    result.outputs.push_back(output_of(request.model()));
    result.has_expected_rows &= request.has_expected_rows(base);
    for (std::size_t layer = 0; layer < plan.layers; ++layer) {
      const byre::Storage& storage = request.model()[layer].storage();
      overlays += storage.origin() == byre::Origin::overlay ? 1U : 0U;
      shared += storage.shares_data_with(base[layer].storage()) ? 1U : 0U;
    }
  }
  const auto mib = [](std::int64_t nbytes) { return static_cast<double>(nbytes) / (1 << 20); };
  result.figures = {
      {"open the model, ms", static_cast<double>(open_ns) / 1e6},
      {"set up a request, ms", median_ms(set_up)},
      {"change its rows, ms", median_ms(change)},
      {"branch and change, ms", median_ms(branch)},
      {"memory gained, MiB", if_known(gained, mib(gained.value_or(0) - resident.value_or(0)))},
      {"copied by byre, MiB", if_known(BYRE_STATS, mib(copied.bytes_copied))},
      {"layers in overlays", overlays},
      {"layers shared with the model", shared},
  };
  return result;
}

Report work(const Arguments& given) {
  const auto count = [&](const char* name, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::size_t>(given.number(name, least, most));
  };
  const std::size_t layers = count("layers", 1, 4096);
  const Plan plan{layers, static_cast<std::int64_t>(count("width", 1, 16'384)),
                  count("requests", 1, 1024), count("change", 0, layers), count("rows", 0, 16'384)};
  const TemporaryDirectory folder("weights_overlay");
  save_random_model(folder.path(), plan.layers, plan.width);
  const Model model = open_model(folder.path(), plan.layers, false);
  const std::vector<float> unchanged = output_of(model);
  Report report;
  std::vector<std::vector<float>> outputs;
  for (const Variant& variant : variants) {
    Run result = run(variant, folder.path(), plan);
    report.figures["variants"][variant.name] = result.figures;
    if (!result.has_expected_rows) {
      report.faults.push_back(
          std::string(variant.name) +
          ": the rows that differ from the model are not exactly the changed rows.");
    }
    if (outputs.empty()) {
      outputs = result.outputs;
    } else if (result.outputs != outputs) {
      report.faults.push_back(std::string(variant.name) +
                              ": the outputs differ from those of deep copies.");
    }
  }
  if (!std::ranges::equal(open_model(folder.path(), plan.layers, false), model, are_same_bits)) {
    report.faults.push_back("The model's files were modified.");
  }
  report.figures["changed outputs"] =
      std::ranges::count_if(outputs, [&](const auto& output) { return output != unchanged; });
  report.text =
      format("%zu layers of %lld x %lld f32; %zu requests change %zu rows of %zu layers,\n",
             plan.layers, static_cast<long long>(plan.width), static_cast<long long>(plan.width),
             plan.requests, plan.rows, plan.changed) +
      "and a branch of each changes as much.\n\n" + table_of(report.figures["variants"]);
  return report;
}

}  // namespace
}  // namespace examples::weights_overlay

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "weights_overlay",
       .about =
           R"(Serves requests that each change some rows of one model, and a branch of each
request. The weights of a request are deep copies of the mapped model, lazy clones of
the model in ordinary memory, or lazy clones of the mapped model. The outputs of all
three variants must be equal, bit for bit, and the files must not change.
)",
       .options = {{"layers", "4", "layers of the model; each is a .npy file"},
                   {"width", "2048", "rows and columns of a layer, of f32"},
                   {"requests", "4", "requests; each runs on its own thread"},
                   {"change", "2", "layers that each request changes"},
                   {"rows", "16", "rows of each such layer that it changes"}},
       .work = examples::weights_overlay::work},
      argc, argv);
}
