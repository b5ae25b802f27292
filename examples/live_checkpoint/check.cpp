// SPDX-License-Identifier: BSL-1.0
#include "check.hpp"

#include "checksum.hpp"
#include "restore.hpp"

#include <byre/interop/npy_header.hpp>

#include <stdexcept>

namespace examples::live_checkpoint {
namespace {

class PlainTable {
 public:
  explicit PlainTable(const Plan& plan)
      : dimensions_(plan.dimensions), values_(std::size_t{plan.rows} * plan.dimensions) {
    for (std::uint32_t number = 0; number < plan.rows; ++number) {
      initialize_row(row(number), number, plan);
    }
  }
  float* row(std::uint32_t number) noexcept { return &values_[number * dimensions_]; }
  const std::vector<float>& values() const noexcept { return values_; }

 private:
  std::size_t dimensions_;
  std::vector<float> values_;
};

/// Empty if all is well.
std::string fault_of(const WrittenSnapshot& snapshot, std::uint32_t expected, Restorer& restorer) {
  try {
    restorer.load(snapshot.file);
  } catch (const std::runtime_error& error) {
    return std::string("it cannot be restored. ") + error.what();
  }
  const std::uint32_t found = restorer.checksum();
  return found == expected ? ""
                           : "restored it has the CRC-32 " + to_hex(found) + ", the replay has " +
                                 to_hex(expected) + ": it is not the model at that token";
}

}  // namespace

std::vector<std::uint32_t> replay(const Plan& plan, Progress& progress) {
  PlainTable table(plan);
  Trainer trainer(plan, table);
  const std::string header = byre::npy_header(byre::DType::f32, {plan.rows, plan.dimensions});
  std::vector<std::uint32_t> checksums;
  progress.begin("replay on a plain array", plan.tokens, "tokens");
  for (std::uint64_t index = 0; index < plan.tokens; ++index) {
    trainer.step(index);
    if ((index + 1) % plan.snapshot_every == 0) {
      Checksum checksum;
      checksum.add(header.data(), header.size());
      checksum.add(table.values().data(), plan.table_nbytes());
      checksums.push_back(checksum.value());
    }
    if (index % 1024 == 0) {
      progress.advance_to(index);
    }
  }
  progress.advance_to(plan.tokens);
  progress.end();
  return checksums;
}

std::vector<std::string> check(const std::string& mode, const std::vector<WrittenSnapshot>& written,
                               const std::vector<std::uint32_t>& expected, Progress& progress) {
  std::vector<std::string> faults;
  if (written.size() != expected.size()) {
    faults.push_back("Mode " + mode + " wrote " + std::to_string(written.size()) +
                     " snapshots, the replay has " + std::to_string(expected.size()) + ".");
    return faults;
  }
  Restorer restorer;
  progress.begin("check " + mode, written.size(), "snapshots");
  for (std::size_t number = 0; number < written.size(); ++number) {
    const std::string fault = fault_of(written[number], expected[number], restorer);
    if (!fault.empty()) {
      faults.push_back("Mode " + mode + ", snapshot " + std::to_string(number + 1) + " at token " +
                       std::to_string(written[number].token) + ": " + fault + " (" +
                       written[number].file.string() + ").");
    }
    progress.advance_to(number + 1);
  }
  progress.end();
  return faults;
}

}  // namespace examples::live_checkpoint
