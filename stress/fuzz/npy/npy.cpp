// SPDX-License-Identifier: BSL-1.0
/// .npy files: what the demo's writer makes of any shape is read back as that shape, what the
/// reader takes is what the writer makes, and the demo's check of its snapshots refuses every file
/// that is not the one that was written.
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "../../../examples/live_checkpoint/check.hpp"
#include "../../../examples/live_checkpoint/npy.hpp"
#include "../input.hpp"
#include "../target.hpp"
#include "reader.hpp"

namespace byre::fuzz {
namespace {

namespace demo = live_checkpoint;
namespace fs = std::filesystem;

std::uint32_t checksum_of(std::string_view bytes) {
  demo::Checksum checksum;
  checksum.add(bytes.data(), bytes.size());
  return checksum.value();
}

/// The header alone, as most shapes have more data than there is memory.
void write_a_header(Input input) {
  const std::uint64_t rows = input.number(8) >> (input.byte() % 64);
  const std::uint64_t columns = input.number(8) >> (input.byte() % 64);
  trace("the header of %llu rows, %llu columns", static_cast<unsigned long long>(rows),
        static_cast<unsigned long long>(columns));
  const std::string header = demo::npy_header(rows, columns);
  const std::string wanted = std::to_string(rows) + ", " + std::to_string(columns);
  if (header.size() % 64 != 0 || header.find("(" + wanted + ")") == std::string::npos) {
    fail("the header of a table of %s has %zu bytes: %s", wanted.c_str(), header.size(),
         header.c_str());
  }
}

/// A whole file, of a small table.
void write_a_table(Input input) {
  const std::uint64_t rows = input.below(64);
  const std::uint64_t columns = input.below(64);
  trace("a table of %d rows, %d columns", int(rows), int(columns));
  std::string file = demo::npy_header(rows, columns);
  const std::size_t start = file.size();
  while (file.size() < start + rows * columns * sizeof(float)) {
    file.push_back(static_cast<char>(input.byte()));
  }
  const Table found = read_npy(file);
  if (found != Table{rows, columns, std::string_view(file).substr(start)}) {
    fail("%d rows and %d columns were written, %d and %d are read", int(rows), int(columns),
         int(found.rows), int(found.columns));
  }
}

void read_anything(std::string_view file) {
  try {
    const Table table = read_npy(file);
    trace("a table of %d rows, %d columns", int(table.rows), int(table.columns));
    if (demo::npy_header(table.rows, table.columns) + std::string(table.data) != file) {
      fail("the reader takes a file that the writer does not make");
    }
  } catch (const NotNpy& refusal) {
    trace("%s", refusal.what());
  }
}

/// A snapshot of the demo, and the file with its checksum.
class SnapshotOnDisk {
 public:
  SnapshotOnDisk() {
    std::string folder = fs::temp_directory_path() / "byre-fuzz-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
      fail("cannot make the folder %s for a snapshot", folder.c_str());
    }
    folder_ = folder;
  }
  ~SnapshotOnDisk() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  SnapshotOnDisk(const SnapshotOnDisk&) = delete;
  SnapshotOnDisk& operator=(const SnapshotOnDisk&) = delete;

  fs::path file() const { return folder_ / "snapshot.npy"; }
  static void write(const fs::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  fs::path folder_;
};

/// Whether the demo takes the snapshot for one with the checksum `expected`.
bool is_accepted(const fs::path& file, std::uint32_t expected) {
  static std::FILE* const nowhere = std::fopen("/dev/null", "w");
  demo::Progress progress(nowhere);
  const std::vector<std::string> faults =
      demo::check("lazy", {{.token = 1, .file = file, .checksum = expected}}, {expected}, progress);
  for (const std::string& fault : faults) {
    trace("%s", fault.c_str());
    if (fault.find(file.native()) == std::string::npos) {
      fail("the fault does not name the file: %s", fault.c_str());
    }
  }
  return faults.empty();
}

/// The input has the snapshot's file and the one beside it: right, or damaged.
void check_a_snapshot(Input input) {
  static const SnapshotOnDisk snapshot;
  const bool right = input.below(2) != 0;
  const bool missing = input.below(16) == 0;
  const std::size_t damaged_at = input.byte();
  std::string beside(input.rest().substr(0, 64));
  std::string file = demo::npy_header(3, 5) + std::string(60, 'x');
  const std::uint32_t expected = checksum_of(file);
  if (!right && !missing) {
    file[damaged_at % file.size()] = static_cast<char>(file[damaged_at % file.size()] ^ 1);
  }
  if (right && !missing) {
    beside.insert(0, demo::to_hex(expected) + " ");
  }
  SnapshotOnDisk::write(demo::checksum_file(snapshot.file()), beside);
  SnapshotOnDisk::write(snapshot.file(), file);
  if (missing) {
    fs::remove(snapshot.file());
  }
  const bool accepted = is_accepted(snapshot.file(), expected);
  if (accepted != (right && !missing)) {
    fail("the demo %s a snapshot that is %s", accepted ? "accepts" : "refuses",
         missing ? "missing" : (right ? "right" : "damaged"));
  }
}

}  // namespace

const char* const target_name = "npy";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  using namespace byre::fuzz;
  Input input(bytes, nbytes);
  switch (input.below(4)) {
    case 0:
      write_a_header(input);
      break;
    case 1:
      write_a_table(input);
      break;
    case 2:
      read_anything(input.rest());
      break;
    default:
      check_a_snapshot(input);
  }
  return 0;
}
