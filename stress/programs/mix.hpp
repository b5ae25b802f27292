// SPDX-License-Identifier: BSL-1.0
/// Mix: how often each step of the language of programs is taken. program.hpp has the steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace byre::programs {

/// The weight of each step, by its name. A step without a weight is not taken.
using Mix = std::map<std::string, std::uint32_t, std::less<>>;

/// Steps on buffers, storages and pins; on tiled buffers; and what makes later steps fail or run in the middle of others.
Mix mix_of_storages();
Mix mix_of_tiles();
/// All of these.
Mix usual_mix();
/// Without steps that make something fail.
Mix without_faults(Mix mix);

/// "write=4,clone=2". Throws std::invalid_argument, with a text for the user.
Mix parse_mix(std::string_view text);
/// The inverse of parse_mix.
std::string text_of(const Mix& mix);

}  // namespace byre::programs
