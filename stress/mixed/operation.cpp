// SPDX-License-Identifier: BSL-1.0
#include "operation.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "../parsing.hpp"

namespace byre::stress {
namespace {

struct Described {
  std::string_view name;
  std::uint32_t usual_weight;
};

constexpr std::array<Described, operation_count> described{{
    {"read", 12},
    {"write", 12},
    {"write_never", 4},
    {"clone", 12},
    {"clone_clone", 4},
    {"drop", 8},
    {"allocate", 3},
    {"hand", 8},
    {"take", 10},
    {"resize", 3},
    {"adopt", 3},
    {"borrow", 2},
    {"map", 2},
    {"alias", 3},
    {"pin", 3},
    {"move", 3},
    {"shared_slot_read", 6},
    {"shared_slot_clone", 12},
    {"shared_slot_put", 3},
    {"shared_slot_steal", 10},
}};

std::string all_names() {
  std::string names;
  for (const Described& operation : described) {
    names += (names.empty() ? "" : ", ") + std::string(operation.name);
  }
  return names;
}

std::size_t index_of(std::string_view name) {
  const auto found = std::ranges::find(described, name, &Described::name);
  if (found == described.end()) {
    throw std::invalid_argument("there is no operation '" + std::string(name) +
                                "' to mix; there are " + all_names());
  }
  return static_cast<std::size_t>(found - described.begin());
}

std::uint32_t weight_in(std::string_view value, std::string_view part) {
  constexpr std::uint32_t most_weight = 1'000'000;
  const auto weight = parse_number<std::uint32_t>(value);
  if (!weight || *weight > most_weight) {
    throw std::invalid_argument(
        "a mix consists of parts such as write=2, with a whole number up to " +
        std::to_string(most_weight) + ", not '" + std::string(part) + "'");
  }
  return *weight;
}

}  // namespace

std::string_view name_of(Operation operation) noexcept {
  return described[static_cast<std::size_t>(operation)].name;
}

bool is_all_or_nothing(Operation operation) noexcept {
  switch (operation) {
    case Operation::read:
    case Operation::write:
    case Operation::write_never:
    case Operation::clone:
    case Operation::clone_clone:
    case Operation::allocate:
    case Operation::resize:
    case Operation::adopt:
    case Operation::borrow:
    case Operation::map:
      return true;
    default:
      return false;
  }
}

Mix usual_mix() noexcept {
  Mix mix;
  std::ranges::transform(described, mix.begin(), &Described::usual_weight);
  return mix;
}

Mix parse_mix(std::string_view text) {
  Mix mix{};
  for_each_part(text, [&](auto name, auto value, auto part) {
    const std::uint32_t weight = weight_in(value, part);
    mix[index_of(name)] = weight;
  });
  if (std::accumulate(mix.begin(), mix.end(), std::uint64_t{0}) == 0) {
    throw std::invalid_argument("a mix needs at least one operation, as read=4,write=2");
  }
  return mix;
}

std::string text_of(const Mix& mix) {
  std::string text;
  for (std::size_t at = 0; at < operation_count; ++at) {
    if (mix[at] != 0) {
      text += (text.empty() ? "" : ",") + std::string(described[at].name) + "=" +
              std::to_string(mix[at]);
    }
  }
  return text;
}

}  // namespace byre::stress
