// SPDX-License-Identifier: BSL-1.0
/// Repeats a training without byre, and compares its snapshots.
#pragma once

#include "on_threads.hpp"
#include "restore.hpp"
#include "run_program.hpp"
#include "snapshot_files.hpp"
#include "training.hpp"

#include <byre/interop/npy_header.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace examples::live_checkpoint {

inline double mebibytes_in(auto nbytes) {
  return static_cast<double>(nbytes) / (1 << 20);
}

inline double milliseconds_in(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

/// Repeats the training on one thread and on a plain array, without byre. Returns the checksums
/// that the full files of the snapshots must have.
inline std::vector<std::uint32_t> replay(const Plan& plan) {
  struct {
    std::size_t dimensions;
    std::vector<float> values;
    float* row(std::uint32_t number) noexcept { return &values[number * dimensions]; }
  } table{plan.dimensions, std::vector<float>(std::size_t{plan.rows} * plan.dimensions)};
  for (std::uint32_t number = 0; number < plan.rows; ++number) {
    initialize_row(table.row(number), number, plan.dimensions);
  }
  Trainer trainer(plan, table);
  const std::string header = byre::npy_header(byre::DType::f32, {plan.rows, plan.dimensions});
  std::vector<std::uint32_t> checksums;
  for (std::uint64_t index = 0; index < plan.tokens; ++index) {
    trainer.step(index);
    if ((index + 1) % plan.snapshot_every == 0) {
      throw_if_interrupted();
      Checksum checksum;
      checksum.process_bytes(header.data(), header.size());
      checksum.process_bytes(table.values.data(), plan.table_nbytes());
      checksums.push_back(checksum.checksum());
    }
  }
  return checksums;
}

/// Restores all snapshots and compares them. Returns the average time for a file after the first.
inline Json check(const std::string& mode, const std::vector<WrittenSnapshot>& written,
                  const std::vector<std::uint32_t>& expected, std::vector<std::string>& faults) {
  Restorer restorer;
  std::int64_t restore_ns = 0;
  for (std::size_t number = 0; number < expected.size(); ++number) {
    std::string fault = "it was not written";
    try {
      const std::int64_t ns = time_ns([&] { restorer.load(written.at(number).file); });
      restore_ns += number == 0 ? 0 : ns;
      fault =
          restorer.checksum() == expected[number] ? "" : "it differs from the model at that token";
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (!fault.empty()) {
      faults.push_back("Mode " + mode + ", snapshot " + std::to_string(number + 1) + ": " + fault);
    }
  }
  return if_known(expected.size() > 1,
                  milliseconds_in(restore_ns) / static_cast<double>(expected.size() - 1));
}

}  // namespace examples::live_checkpoint
