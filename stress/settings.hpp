// SPDX-License-Identifier: BSL-1.0
/// What a run of a workload is to be.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "faults/fault.hpp"
#include "perturbed/perturbed.hpp"
#include "world/operation.hpp"
#include "world/sizes.hpp"

namespace byre::stress {

/// The form of the sharing protocol.
enum class Protocol : std::uint8_t { word, lock };
std::string_view name_of(Protocol protocol) noexcept;

/// "word" or "lock". Throws std::invalid_argument with a text for people.
Protocol parse_protocol(std::string_view text);

/// "none", "usual", or the chance of a delay of the usual kinds, as 0.1. Throws as parse_protocol.
Perturbation parse_perturbation(std::string_view text);

inline constexpr unsigned most_threads = 64;
inline constexpr std::size_t most_storages = 65'536;

struct Settings {
  std::uint64_t seed = 0;
  unsigned threads = 8;
  std::size_t storages = 64;  ///< slots, of all threads together
  Mix mix = usual_mix();
  Sizes sizes{};
  FaultRates faults{};
  Perturbation perturbation{};  ///< none: the library as it ships
  Protocol protocol = Protocol::word;
  std::chrono::duration<double> duration{10};
  std::optional<std::uint64_t> operations{};  ///< of each thread, instead of a duration
};

/// The command line that repeats a run of `workload`.
std::string command_of(const std::string& workload, const Settings& settings);

}  // namespace byre::stress
