// SPDX-License-Identifier: BSL-1.0
/// The settings of a run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "faults/fault.hpp"
#include "mixed/operation.hpp"
#include "mixed/sizes.hpp"
#include "perturbed/perturbation.hpp"

namespace byre::stress {

/// The form of the sharing protocol.
enum class Protocol : std::uint8_t { word, lock };
std::string_view name_of(Protocol protocol) noexcept;

/// "word" or "lock". Throws std::invalid_argument, with a text for the user.
Protocol parse_protocol(std::string_view text);

/// "none", "usual", or the chance of a delay, as 0.1. Spurious failures are as frequent in proportion. Throws
/// as parse_protocol.
Perturbation parse_perturbation(std::string_view text);

/// The inverse of parse_perturbation.
std::string text_of(const Perturbation& perturbation);

inline constexpr unsigned least_race_threads = 2;
inline constexpr unsigned most_threads = 64;
inline constexpr std::size_t most_storages = 65'536;

struct Settings {
  std::uint64_t seed = 0;
  unsigned threads = 8;
  std::size_t storages = 64;  ///< slots of all threads together; each has two at least
  Mix mix = usual_mix();
  Sizes sizes{};
  FaultRates faults{};
  Perturbation perturbation{};  ///< none: the library as it ships
  Protocol protocol = Protocol::word;
  std::chrono::duration<double> duration{10};
  std::optional<std::uint64_t> operations{};  ///< of each thread, instead of a duration
};

/// How many each thread has.
std::size_t slots_of_each(const Settings& settings) noexcept;

/// The command that repeats a run of `workload`. Usual settings are left out, except threads and sizes.
std::string command_of(const std::string& workload, const Settings& settings);

}  // namespace byre::stress
