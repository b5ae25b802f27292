// SPDX-License-Identifier: BSL-1.0
/// Mix: how often each step of the language of programs is taken. program.hpp defines the steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace byre::programs {

/// The weight of each step, by name. A step without a weight is never taken.
using Mix = std::map<std::string, std::uint32_t, std::less<>>;

/// Steps on buffers, storages and pins (mix_of_storages) or on tiled buffers (mix_of_tiles), and
/// steps that make later steps fail or run nested.
Mix mix_of_storages();
Mix mix_of_tiles();
/// All steps.
Mix usual_mix();
/// `mix` without the steps that inject failures.
Mix without_faults(Mix mix);

/// Parses text such as "write=4,clone=2". Throws std::invalid_argument, with a message for the
/// user, if the text is invalid.
Mix parse_mix(std::string_view text);
/// The inverse of parse_mix.
std::string text_of(const Mix& mix);

}  // namespace byre::programs
