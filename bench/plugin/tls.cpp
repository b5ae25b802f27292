// SPDX-License-Identifier: BSL-1.0
// What thread-local variables cost a library that uses byre: tls --help. They are reached by a call
// (`dynamic`), or, with the option static_tls, without one (`static`).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "plugin.hpp"

namespace {

using CloneAndDrop = void (*)(const byre::Buffer&, std::size_t);

double ns_per_clone(CloneAndDrop clone_and_drop, const byre::Buffer& source) {
  constexpr std::size_t times = 200'000;
  const auto begin = std::chrono::steady_clock::now();
  clone_and_drop(source, times);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / double(times);
}

double quantile(std::vector<double> values, double at) {
  std::ranges::sort(values);
  return values[std::size_t(at * double(values.size() - 1))];
}

}  // namespace

int main(int count, char** given) {
  const bool json = count == 2 && std::strcmp(given[1], "--json") == 0;
  if (count > 2 || (count == 2 && !json)) {
    const bool helps = count == 2 && std::strcmp(given[1], "--help") == 0;
    std::fprintf(
        helps ? stdout : stderr,
        "usage: byre-bench-tls [--json]\n"
        "Clone and drop in a library, ns: thread-local variables by a call, and without.\n");
    return helps ? 0 : 2;
  }
  const byre::Buffer source = byre::Buffer::allocate(64);
  std::vector<double> dynamic_tls;
  std::vector<double> static_tls;
  std::vector<double> ratios;
  for (int round = 0; round < 31; ++round) {
    dynamic_tls.push_back(ns_per_clone(&byre_bench::clone_and_drop_dynamic_tls, source));
    static_tls.push_back(ns_per_clone(&byre_bench::clone_and_drop_static_tls, source));
    ratios.push_back(dynamic_tls.back() / static_tls.back());
  }
  std::printf(
      json ? "{\"dynamic_ns\": %.2f, \"static_ns\": %.2f, \"ratio\": %.3f, \"ratio_low\": %.3f, "
             "\"ratio_high\": %.3f}\n"
           : "dynamic %.2f ns, static %.2f ns, ratio %.3f (quartiles %.3f to %.3f)\n",
      quantile(dynamic_tls, 0.5), quantile(static_tls, 0.5), quantile(ratios, 0.5),
      quantile(ratios, 0.25), quantile(ratios, 0.75));
  return 0;
}
