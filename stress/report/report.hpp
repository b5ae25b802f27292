// SPDX-License-Identifier: BSL-1.0
/// Reports of a run, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

#include "../outcome.hpp"

namespace byre::stress {

/// A few lines; more if something failed.
std::string text_of(const Outcome& outcome);

nlohmann::ordered_json json_of(const Outcome& outcome);
nlohmann::ordered_json json_of(const FaultCounts& counts);

/// "1,234,567".
std::string with_commas(std::uint64_t number);
/// "1.5 MiB".
std::string text_of_memory(double nbytes);

}  // namespace byre::stress
