// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include "format.hpp"

#include <algorithm>
#include <byre/config.hpp>
#include <functional>
#include <nlohmann/json.hpp>

namespace examples::branching_cache {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Value median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::int64_t> each(const Times& times, std::int64_t Spent::*of) {
  std::vector<std::int64_t> all;
  for (const Spent& spent : times) {
    all.push_back(spent.*of);
  }
  return all;
}

double per_branch(std::int64_t value, const WayResult& way) {
  return static_cast<double>(value) / static_cast<double>(way.branches);
}

std::int64_t median(const Times& times, std::int64_t Spent::*of = &Spent::wall_ns) {
  return median(each(times, of));
}

/// Of each time the way's over that of plain memory, for as many branches.
std::vector<double> ratios(const WayResult& way, const WayResult& plain, std::size_t memory,
                           std::int64_t Spent::*of) {
  std::vector<double> all;
  for (std::size_t time = 0; time < way.append[memory].size(); ++time) {
    all.push_back(per_branch(way.append[memory][time].*of, way) /
                  per_branch(plain.append[memory][time].*of, plain));
  }
  return all;
}

/// Resident beside the prefix and the appended tokens.
std::optional<std::int64_t> beside_nbytes(const WayResult& way, const Plan& plan) {
  if (!way.resident_nbytes) {
    return std::nullopt;
  }
  const std::size_t needed =
      (plan.prefix_tokens + way.branches * plan.append_tokens) * plan.token_nbytes();
  return *way.resident_nbytes - static_cast<std::int64_t>(needed);
}

std::string of_plain(const WayResult& way, const WayResult& plain, std::size_t memory,
                     std::int64_t Spent::*of) {
  const auto all = ratios(way, plain, memory, of);
  const auto [least, most] = std::ranges::minmax(all);
  return format("%.2f (%.2f to %.2f)", median(all), least, most);
}

/// A row of the table: its name and how a way's figure reads.
struct Row {
  const char* name;
  std::function<std::string(const WayResult&)> figure;
};

std::vector<Row> all_rows(const Report& report) {
  const Plan& plan = report.plan;
  const WayResult& plain = report.results.plain;
  const auto time_of = [](const Times& times, const WayResult& way) {
    return format("%.2f us", per_branch(median(times), way) / 1e3);
  };
  return {
      {"branches", [](const WayResult& way) { return format("%zu", way.branches); }},
      {"make all branches", [](const WayResult& way) { return milliseconds(median(way.make)); }},
      {"  each", [=](const WayResult& way) { return time_of(way.make, way); }},
      {"append to each, fresh", [=](const WayResult& way) { return time_of(way.append[0], way); }},
      {"  of plain memory",
       [&](const WayResult& way) { return of_plain(way, plain, 0, &Spent::wall_ns); }},
      {"  in processor time",
       [&](const WayResult& way) { return of_plain(way, plain, 0, &Spent::processor_ns); }},
      {"append, recycled", [=](const WayResult& way) { return time_of(way.append[1], way); }},
      {"  of plain memory",
       [&](const WayResult& way) { return of_plain(way, plain, 1, &Spent::wall_ns); }},
      {"  in processor time",
       [&](const WayResult& way) { return of_plain(way, plain, 1, &Spent::processor_ns); }},
      {"drop, truncate, branch", [=](const WayResult& way) { return time_of(way.change, way); }},
      {"memory beside, each",
       [&](const WayResult& way) {
         const auto beside = beside_nbytes(way, plan);
         return beside ? format("%.1f KiB", per_branch(*beside, way) / 1024) : "n/a";
       }},
      {"  of all memory",
       [&](const WayResult& way) {
         const auto beside = beside_nbytes(way, plan);
         return beside ? format("%.2f%%", 100 * static_cast<double>(*beside) /
                                              static_cast<double>(*way.resident_nbytes - *beside))
                       : "n/a";
       }},
      {"tokens copied, each",
       [](const WayResult& way) {
         const Findings& life = way.lives.back();
         return format("%.2f",
                       static_cast<double>(life.copied_tokens) / static_cast<double>(life.living));
       }},
  };
}

Json figures(const WayResult& way, const Report& report) {
  const WayResult& plain = report.results.plain;
  const auto beside = beside_nbytes(way, report.plan);
  const Findings& life = way.lives.back();
  return {
      {"way", way.name},
      {"branches", way.branches},
      {"make_ns", each(way.make, &Spent::wall_ns)},
      {"append_fresh_ns", each(way.append[0], &Spent::wall_ns)},
      {"append_fresh_of_plain", ratios(way, plain, 0, &Spent::wall_ns)},
      {"append_fresh_processor_of_plain", ratios(way, plain, 0, &Spent::processor_ns)},
      {"append_recycled_ns", each(way.append[1], &Spent::wall_ns)},
      {"append_recycled_of_plain", ratios(way, plain, 1, &Spent::wall_ns)},
      {"append_recycled_processor_of_plain", ratios(way, plain, 1, &Spent::processor_ns)},
      {"change_ns", each(way.change, &Spent::wall_ns)},
      {"resident_bytes", way.resident_nbytes ? Json(*way.resident_nbytes) : Json(nullptr)},
      {"resident_bytes_beside", beside ? Json(*beside) : Json(nullptr)},
      {"living_branches", life.living},
      {"tokens_wrong", life.wrong_tokens},
      {"tokens_copied", life.copied_tokens},
      {"tiles_not_of_prefix", life.own_tiles},
      {"tiles_not_of_parent", life.unlike_parent},
  };
}

}  // namespace

std::string table(const Report& report) {
  const Plan& plan = report.plan;
  const Results& results = report.results;
  std::string text =
      format("%zu tokens of %zu layers x %zu heads x %zu x 2 in bf16 = ", plan.prefix_tokens,
             plan.layers, plan.kv_heads, plan.head_size) +
      mebibytes(plan.prefix_tokens * plan.token_nbytes()) +
      format(", in tiles of %zu = ", plan.tile_tokens) + mebibytes(plan.tile_nbytes()) +
      format("\n%zu branches that append %zu each = ", plan.branches, plan.append_tokens) +
      mebibytes(plan.branches * plan.append_tokens * plan.token_nbytes()) +
      format(", by %zu threads\n\n%-22s", plan.threads, "");
  const WayResult* const ways[] = {&results.eager, &results.blocks, &results.tiles};
  for (const WayResult* way : ways) {
    text += format(" %21s", way->name);
  }
  for (const Row& row : all_rows(report)) {
    text += format("\n%-22s", row.name);
    for (const WayResult* way : ways) {
      text += format(" %21s", row.figure(*way).c_str());
    }
  }
  text += report.faults.empty()
              ? format("\n\nAll %zu branches that are left have their tokens, and no others.\n",
                       results.tiles.lives.back().living)
              : format("\n\n%zu things are WRONG.\n", report.faults.size());
  return text;
}

std::string json(const Report& report) {
  const Plan& plan = report.plan;
  const Results& results = report.results;
  const LiveBytes& live = results.live.back();
  const Json all = {
      {"byre", BYRE_VERSION_STRING},
      {"token_bytes", plan.token_nbytes()},
      {"tile_bytes", plan.tile_nbytes()},
      {"prefix_tokens", plan.prefix_tokens},
      {"appended_tokens", plan.append_tokens},
      {"threads", plan.threads},
      {"seed", plan.seed},
      {"plain",
       {{"append_fresh_ns", each(results.plain.append[0], &Spent::wall_ns)},
        {"append_recycled_ns", each(results.plain.append[1], &Spent::wall_ns)}}},
      {"ways",
       {figures(results.eager, report), figures(results.blocks, report),
        figures(results.tiles, report)}},
      {"counted",
       {{"lives", results.live.size()},
        {"lazy_clones", results.counted.lazy_clones},
        {"copies", results.counted.copies},
        {"bytes_copied", results.counted.bytes_copied},
        {"live_bytes_of_prefix", live.prefix},
        {"live_bytes_once_changed", live.changed},
        {"live_bytes_left", live.left}}},
      {"verified", report.faults.empty()},
      {"faults", report.faults},
  };
  return all.dump(2) + "\n";
}

}  // namespace examples::branching_cache
