// SPDX-License-Identifier: BSL-1.0
#include "origin.hpp"

#include <algorithm>
#include <vector>

namespace byre::test {
namespace {

/// From the family that a storage begins with on.
std::vector<const Origin*> path_to(const Origin* origin) {
  std::vector<const Origin*> path;
  for (; origin != nullptr; origin = origin->before) {
    path.push_back(origin);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace

const Origin* Origins::find_or_add(const Origin& origin) {
  const auto found = std::ranges::find(all_, origin);
  return found != all_.end() ? &*found : &all_.emplace_back(origin);
}

Parting parting_of(const Origin* accessing, const Origin* writing) {
  if (accessing == writing) {
    return {accessing, false, false};  // alike, and made one after the other by the last reshape
  }
  const auto accessing_path = path_to(accessing);
  const auto writing_path = path_to(writing);
  const auto [at_accessing, at_writing] = std::ranges::mismatch(accessing_path, writing_path);
  return at_accessing == accessing_path.end()
             ? Parting{*at_writing, true, false}
             : Parting{*at_accessing, false, at_writing == writing_path.end()};
}

}  // namespace byre::test
