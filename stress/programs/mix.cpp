// SPDX-License-Identifier: BSL-1.0
#include "mix.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <span>
#include <stdexcept>

namespace byre::programs {
namespace {

struct Weight {
  const char* name;
  std::uint32_t weight;
};

constexpr Weight fault_weights[] = {
    {"fail_allocation", 3}, {"fail_copy", 3}, {"fail_new", 3}, {"throw_in_sink", 1}};
constexpr Weight nesting_weights[] = {{"nest_in_copy", 6}, {"nest_in_new", 2}};
constexpr Weight pool_weights[] = {{"trim_pool", 1}, {"limit_pool", 1}};
constexpr Weight storage_weights[] = {
    {"allocate", 8},       {"adopt", 8},        {"borrow", 4},      {"map", 6},
    {"clone", 16},         {"copy", 8},         {"assign", 6},      {"move", 4},
    {"swap", 4},           {"drop", 8},         {"materialize", 6}, {"write", 16},
    {"write_range", 6},    {"others_write", 4}, {"resize", 6},      {"shrink", 3},
    {"writable_clone", 5}, {"pin", 4},          {"pin_to_read", 4}, {"write_by_pin", 5},
    {"release_pin", 3},    {"move_pin", 2},     {"hand", 6},        {"take", 8},
    {"place_read", 5},     {"place_clone", 9},  {"place_put", 3},   {"place_steal", 8},
    {"version", 8},
};
constexpr Weight tile_weights[] = {
    {"make_tiles", 3},   {"clone_tiles", 9},    {"move_tiles", 3},  {"swap_tiles", 2},
    {"drop_tiles", 3},   {"write_tile", 16},    {"write_tiles", 4}, {"append_tiles", 4},
    {"resize_tiles", 3}, {"truncate_tiles", 3}, {"read_tiles", 2},  {"compare_tiles", 3},
    {"hand_tiles", 3},   {"take_tiles", 4},
};

Mix together(std::initializer_list<std::span<const Weight>> all) {
  Mix mix;
  for (const std::span<const Weight> weights : all) {
    for (const Weight& each : weights) {
      mix[each.name] = each.weight;
    }
  }
  return mix;
}

}  // namespace

Mix mix_of_storages() {
  return together({fault_weights, nesting_weights, pool_weights, storage_weights});
}

Mix mix_of_tiles() {
  return together({fault_weights, nesting_weights, tile_weights});
}

Mix usual_mix() {
  return together({fault_weights, nesting_weights, pool_weights, storage_weights, tile_weights});
}

Mix without_faults(Mix mix) {
  for (const Weight& fault : fault_weights) {
    mix.erase(fault.name);
  }
  return mix;
}

Mix parse_mix(std::string_view text) {
  const Mix known = usual_mix();
  Mix mix;
  while (!text.empty()) {
    const std::string part(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equals);
    std::uint32_t weight = 0;
    const char* const end = part.data() + part.size();
    const auto [stopped, error] =
        std::from_chars(std::min(part.data() + equals + 1, end), end, weight);
    if (!known.contains(name) || error != std::errc() || stopped != end || weight == 0 ||
        weight > 1000) {
      throw std::invalid_argument(
          "invalid part '" + part +
          "'. Write STEP=WEIGHT, such as write=2: a step of --list, a weight from 1 to 1000");
    }
    mix[name] = weight;
  }
  if (mix.empty()) {
    throw std::invalid_argument(
        "the mix is empty. Pass at least one step, such as write=4,clone=2");
  }
  return mix;
}

std::string text_of(const Mix& mix) {
  std::string text;
  for (const auto& [name, weight] : mix) {
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(weight);
  }
  return text;
}

}  // namespace byre::programs
