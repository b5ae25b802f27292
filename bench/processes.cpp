// SPDX-License-Identifier: BSL-1.0
/// The costs of lazy clones between processes and of other ways to share bytes, and the memory of
/// workers that share one buffer.
#include <byre/byre.hpp>
#include <byre/ipc/send.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/command_line.hpp"
#include "support/socket_pair.hpp"

namespace byre::bench {
namespace {

using test::GivenOptions;
using test::SocketPair;
using Clock = std::chrono::steady_clock;

struct Failed : std::runtime_error {
  using runtime_error::runtime_error;
};

void expect(bool is_so, const char* what) {
  if (!is_so) {
    throw Failed(std::string(what) + ": the system refused it, or the bytes differ");
  }
}

/// A memory file, mapped by hand.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t nbytes) : nbytes_(nbytes), file_(::memfd_create("bench", 0)) {
    expect(file_ >= 0 && ::ftruncate(file_, static_cast<off_t>(nbytes)) == 0, "memfd_create");
    data_ = map(MAP_SHARED);
  }
  ~SharedMemory() {
    ::munmap(data_, nbytes_);
    ::close(file_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const noexcept { return data_; }
  std::byte* map(int flags) const {
    void* const mapping =
        ::mmap(nullptr, nbytes_, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file_, 0);
    expect(mapping != MAP_FAILED, "mmap");
    return static_cast<std::byte*>(mapping);
  }
  void unmap(std::byte* mapping) const { ::munmap(mapping, nbytes_); }

 private:
  std::size_t nbytes_;
  int file_;
  std::byte* data_ = nullptr;
};

struct Measured {
  std::string name;
  std::size_t expected_copies = 0;  ///< bytes that byre has to copy in each round
  std::vector<double> microseconds;
  std::int64_t bytes_copied = 0;  ///< by byre, in all rounds

  double median() const { return microseconds[microseconds.size() / 2]; }
};

/// Times `timed(state)`, for a fresh state of `prepare()` in each round.
template <class Prepare, class Timed>
Measured measure(std::string name, std::size_t expected_copies, std::uint64_t rounds,
                 Prepare prepare, Timed timed) {
  Measured measured{std::move(name), expected_copies, {}, 0};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    auto state = prepare();
    const auto before = stats::snapshot();
    const auto begin = Clock::now();
    timed(*state);
    const std::chrono::duration<double, std::micro> time = Clock::now() - begin;
    measured.microseconds.push_back(time.count());
    measured.bytes_copied += (stats::snapshot() - before).bytes_copied;
  }
  std::sort(measured.microseconds.begin(), measured.microseconds.end());
  return measured;
}

Buffer filled(std::size_t nbytes, Allocator& allocator) {
  Buffer buffer = Buffer::allocate(nbytes, allocator);
  std::memset(buffer.mutable_data(), 1, nbytes);
  return buffer;
}

/// Sends the bytes through a socket, to a thread.
void send_bytes(const SocketPair& sockets, const Buffer& buffer, std::byte* to) {
  std::thread receiver([&] {
    for (std::size_t at = 0; at < buffer.nbytes();) {
      const ssize_t count = ::read(sockets[1], to + at, buffer.nbytes() - at);
      if (count <= 0) {
        std::abort();
      }
      at += static_cast<std::size_t>(count);
    }
  });
  for (std::size_t at = 0; at < buffer.nbytes();) {
    const ssize_t count = ::write(sockets[0], buffer.data() + at, buffer.nbytes() - at);
    expect(count > 0, "write");
    at += static_cast<std::size_t>(count);
  }
  receiver.join();
}

std::vector<Measured> exchange_costs(std::size_t nbytes, std::uint64_t rounds) {
  const SocketPair sockets;
  const Buffer paged = filled(nbytes, paged_allocator());
  const Buffer ordinary = filled(nbytes, default_allocator());
  const auto nothing = [] { return std::make_unique<Buffer>(); };
  const auto transfer = [&](const Buffer& buffer) {
    return [&](Buffer& received) {
      send(sockets[0], buffer);
      received = receive(sockets[1]);
    };
  };
  const auto received = [&] {
    send(sockets[0], paged);
    return std::make_unique<Buffer>(receive(sockets[1]));
  };
  const auto write_a_page = [](Buffer& buffer) {
    buffer.mutable_data()[buffer.nbytes() / 2] = std::byte{2};
  };
  const auto no_memory = [] { return std::make_unique<std::optional<SharedMemory>>(); };
  std::vector<Measured> all;
  const auto add = [&](std::string name, std::size_t expected_copies, auto prepare, auto timed) {
    all.push_back(measure(std::move(name), expected_copies, rounds, prepare, timed));
  };
  add("send and receive data in pages", 0, nothing, transfer(paged));
  add("send and receive ordinary memory", nbytes, nothing, transfer(ordinary));
  add("lazy clone of ordinary memory, written", nbytes, nothing, [&](Buffer& clone) {
    clone = ordinary;
    clone.mutable_data();
  });
  add(
      "by hand: the bytes through the socket", 0,
      [&] { return std::make_unique<Buffer>(filled(nbytes, default_allocator())); },
      [&](Buffer& to) { send_bytes(sockets, ordinary, to.mutable_data()); });
  add("by hand: a copy to a new memory file", 0, no_memory,
      [&](std::optional<SharedMemory>& memory) {
        std::memcpy(memory.emplace(nbytes).data(), ordinary.data(), nbytes);
      });
  add("first write of the receiver, one page", 0, received, write_a_page);
  const SharedMemory shared(nbytes);
  std::memset(shared.data(), 1, nbytes);
  add("by hand: map privately, write one page, unmap", 0, nothing, [&](Buffer&) {
    std::byte* const mapping = shared.map(MAP_PRIVATE);
    mapping[nbytes / 2] = std::byte{2};
    shared.unmap(mapping);
  });
  struct Sender {
    Buffer buffer;
    Buffer view;
  };
  const auto sender = [&](bool has_view) {
    return [&, has_view] {
      auto made = std::make_unique<Sender>();
      made->buffer = filled(nbytes, paged_allocator());
      send(sockets[0], made->buffer);
      made->view = receive(sockets[1]);
      if (!has_view) {
        made->view = Buffer();
      }
      return made;
    };
  };
  const auto write_as_sender = [&](Sender& made) { write_a_page(made.buffer); };
  add("write of the sender, with a view", 0, sender(true), write_as_sender);
  add("write of the sender, after the view", 0, sender(false), write_as_sender);
  return all;
}

/// The value of a field of /proc/PID/smaps_rollup or status, in bytes.
std::size_t field(pid_t process, const char* file, const std::string& name) {
  std::ifstream lines("/proc/" + std::to_string(process) + "/" + file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) {
      return std::stoul(line.substr(name.size())) << 10;
    }
  }
  throw Failed("cannot read " + name + " of a process");
}

struct Memory {
  std::size_t alone = 0;        ///< of the process with the data, before it has workers
  std::size_t all = 0;          ///< of it and all workers
  std::size_t page_tables = 0;  ///< of all workers
};

/// The sum of the proportional set sizes of this process and of its workers, which read all bytes
/// of one buffer. The workers start before the data exists.
Memory memory_of_workers(std::size_t nbytes, std::uint64_t count) {
  std::vector<std::unique_ptr<SocketPair>> sockets;
  std::vector<pid_t> workers;
  for (std::uint64_t index = 0; index < count; ++index) {
    sockets.push_back(std::make_unique<SocketPair>());
    const pid_t worker = ::fork();
    expect(worker >= 0, "fork");
    if (worker == 0) {
      const Buffer view = receive((*sockets.back())[1]);
      std::size_t sum = 0;
      for (std::size_t at = 0; at < view.nbytes(); at += 4096) {
        sum += static_cast<std::size_t>(view.data()[at]);
      }
      const bool is_right = sum == view.nbytes() / 4096;
      static_cast<void>(::write((*sockets.back())[1], &is_right, 1));
      ::pause();
      ::_exit(EXIT_SUCCESS);
    }
    workers.push_back(worker);
  }
  const Buffer buffer = filled(nbytes, paged_allocator());
  Memory memory;
  memory.alone = field(::getpid(), "smaps_rollup", "Pss:");
  for (const auto& each : sockets) {
    send((*each)[0], buffer);
  }
  for (const auto& each : sockets) {
    char is_right = 0;
    expect(::read((*each)[0], &is_right, 1) == 1 && is_right == 1, "reading in a worker");
  }
  memory.all = field(::getpid(), "smaps_rollup", "Pss:");
  for (const pid_t worker : workers) {
    memory.all += field(worker, "smaps_rollup", "Pss:");
    memory.page_tables += field(worker, "status", "VmPTE:");
  }
  for (const pid_t worker : workers) {
    ::kill(worker, SIGKILL);
    ::waitpid(worker, nullptr, 0);
  }
  expect(collect().remaining == 0, "the end of all views");
  return memory;
}

constexpr double most_memory_ratio = 1.05;

/// Throws Failed if byre copied other bytes than expected, or if the workers took memory.
void check(const std::vector<Measured>& costs, std::uint64_t rounds, double memory_ratio) {
  for (const Measured& measured : costs) {
    const auto expected = static_cast<std::int64_t>(BYRE_STATS * measured.expected_copies * rounds);
    if (measured.bytes_copied != expected) {
      throw Failed(measured.name + ": byre copied " + std::to_string(measured.bytes_copied) +
                   " bytes, expected " + std::to_string(expected));
    }
  }
  if (memory_ratio > most_memory_ratio) {
    throw Failed("the workers and the process with the data take " + std::to_string(memory_ratio) +
                 " of that process's memory, allowed " + std::to_string(most_memory_ratio));
  }
}

std::string text_of(double microseconds) {
  char text[32];
  const bool is_long = microseconds >= 1000;
  std::snprintf(text, sizeof text, "%.1f %s", is_long ? microseconds / 1000 : microseconds,
                is_long ? "ms" : "us");
  return text;
}

int run(int argc, char** argv) {
  test::CommandLine line;
  line.flag("help", "print this text")
      .flag("json", "print one JSON object")
      .flag("check", "fail if byre copies data in pages, or if workers take memory of their own")
      .value("mib", "N", "the size of the data in MiB; default 1024")
      .value("rounds", "N", "how often each operation is timed; default 9")
      .value("workers", "N", "how many processes read one buffer; default 32");
  const GivenOptions given = line.parse(argc, argv);
  if (given.has("help")) {
    std::printf("usage: byre-processes [options]\n\n%s", line.help().c_str());
    return EXIT_SUCCESS;
  }
  const std::size_t nbytes = given.number("mib", 1, 1 << 16).value_or(1024) << 20;
  const std::uint64_t rounds = given.number("rounds", 1, 1000).value_or(9);
  const std::uint64_t workers = given.number("workers", 1, 1000).value_or(32);
  const Memory memory = memory_of_workers(nbytes, workers);
  const std::vector<Measured> costs = exchange_costs(nbytes, rounds);
  const double ratio = static_cast<double>(memory.all) / static_cast<double>(memory.alone);
  if (given.has("check")) {
    check(costs, rounds, ratio);
  }
  if (given.has("json")) {
    nlohmann::json report{{"nbytes", nbytes},
                          {"rounds", rounds},
                          {"workers", workers},
                          {"memory_alone", memory.alone},
                          {"memory_of_all", memory.all},
                          {"page_tables", memory.page_tables},
                          {"memory_ratio", ratio}};
    for (const Measured& measured : costs) {
      report["costs"].push_back({{"name", measured.name},
                                 {"microseconds", measured.microseconds},
                                 {"median", measured.median()},
                                 {"bytes_copied", measured.bytes_copied}});
    }
    std::printf("%s\n", report.dump(2).c_str());
    return EXIT_SUCCESS;
  }
  std::printf("| %zu MiB | bytes copied by byre | median | least to most |\n|---|---|---|---|\n",
              nbytes >> 20);
  for (const Measured& measured : costs) {
    std::printf("| %s | %lld | %s | %s to %s |\n", measured.name.c_str(),
                static_cast<long long>(measured.bytes_copied) / static_cast<long long>(rounds),
                text_of(measured.median()).c_str(), text_of(measured.microseconds.front()).c_str(),
                text_of(measured.microseconds.back()).c_str());
  }
  std::printf(
      "\nA process with %zu MiB takes %.1f MiB; together with %llu workers that have read all of "
      "it, %.1f MiB of proportional set size (%.4f), and %.1f MiB of page tables.\n",
      nbytes >> 20, static_cast<double>(memory.alone) / (1 << 20),
      static_cast<unsigned long long>(workers), static_cast<double>(memory.all) / (1 << 20), ratio,
      static_cast<double>(memory.page_tables) / (1 << 20));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace byre::bench

int main(int argc, char** argv) {
  return byre::test::run_main("byre-processes", [&] { return byre::bench::run(argc, argv); });
}
