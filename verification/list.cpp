// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <deque>
#include <tuple>

#include "scenario.hpp"

namespace byre::verification {
namespace {

struct Entry {
  Scenario scenario;
  CallSite where;

  /// In the order of all_scenarios().
  auto rank() const {
    static constexpr std::string_view folders[] = {"/scenarios/", "/reference/", "/known_wrong/",
                                                   "/programs/", "/litmus/"};
    const std::string_view file = where.file;
    const auto folder = std::ranges::find_if(folders,
                                             [&](std::string_view name) {
                                               return file.find(name) != std::string_view::npos;
                                             }) -
                        std::begin(folders);
    // Not by the whole path, which depends on how the file is compiled.
    return std::tuple(folder, file.substr(file.rfind('/') + 1), where.line);
  }
};

/// Where each stays.
std::deque<Entry>& entries() {
  static std::deque<Entry> all;
  return all;
}

}  // namespace

const Scenario& listed(const Scenario& scenario, CallSite where) {
  return entries().emplace_back(Entry{scenario, where}).scenario;
}

std::span<const Scenario* const> all_scenarios() {
  static const std::vector<const Scenario*> all = [] {
    std::vector<const Entry*> sorted;
    for (const Entry& entry : entries()) {
      sorted.push_back(&entry);
    }
    // Not that of std::ranges: clang 14 does not compile libstdc++'s.
    std::stable_sort(sorted.begin(), sorted.end(), [](const Entry* left, const Entry* right) {
      return left->rank() < right->rank();
    });
    std::vector<const Scenario*> list;
    for (const Entry* entry : sorted) {
      list.push_back(&entry->scenario);
    }
    return list;
  }();
  return all;
}

}  // namespace byre::verification
