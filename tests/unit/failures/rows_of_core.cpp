// SPDX-License-Identifier: BSL-1.0
// Memory, buffers and storages, what counts their copies, and reports of reshapes.
#include <byre/byre.hpp>
#include <byre/files/output_file.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/expect.hpp>
#include <byre/observe/recording.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/shadow/report.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/shadow/suppression.hpp>
#include <byre/storage/explain.hpp>

#include <array>
#include <cstring>
#include <memory_resource>

#include "rows.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace core_rows {

/// Of one block, which operator new allows.
class Resource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t, std::size_t) override {
    ::operator delete(::operator new(1));  // a new-expression may be left out
    return memory_.data();
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  alignas(data_alignment) std::array<std::byte, 4096> memory_{};
};

void allocate_pmr(Attempt& attempt) {
  Resource resource;
  PmrAllocator allocator(resource);
  attempt([&] { allocator.deallocate(allocator.allocate({64, 64})); });
}

void allocate_copy(Attempt& attempt) {
  Resource resource;
  PmrAllocator allocator(resource);
  const std::byte bytes[64] = {};
  attempt([&] { allocator.deallocate(allocator.allocate_copy({64, 64}, bytes, 64)); });
}

/// The default, of an allocator that copies at once.
void submit_copy(Attempt& attempt) {
  Resource resource;
  PmrAllocator allocator(resource);
  const std::byte bytes[64] = {};
  attempt([&] {
    PendingCopy none;
    allocator.deallocate(allocator.submit_copy({64, 64}, bytes, 64, none));
  });
}

std::string described(const Buffer& buffer) {
  return std::to_string(buffer.nbytes()) + explain(buffer);
}
std::string described(const Storage& storage) {
  return std::to_string(storage.nbytes()) + explain(storage);
}

/// A row of what `Function`, which captures nothing, makes of a buffer or storage of 100 bytes.
template <class Held, class Function>
Row of_bytes(const char* name, Function) {
  static_assert(std::is_empty_v<Function>, "a lambda that captures nothing");
  return {name, [](Attempt& attempt) {
            Held held = Held::allocate(100);
            Held result;
            attempt([&] { result = Function()(held); },
                    [&] { return described(held) + described(result); });
          }};
}

template <class Held>
Held written_clone(Held& held) {
  Held clone = held.lazy_clone();
  clone.mutable_data()[0] = std::byte{1};
  return clone;
}

template <class Held>
void shrink_to_fit(Attempt& attempt) {
  Held held = Held::allocate(1000);
  held.resize(8);
  attempt([&] { held.shrink_to_fit(); }, [&] { return described(held); });
}

char lent[100];

template <class Held>
void map_file(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that is longer than what strings have in place";
  write_file(path, "bytes");
  Held held;
  attempt([&] { held = Held::map_file(path); }, [&] { return described(held); });
}

// Where there is no memory for pages, or for an overlay, ordinary memory does.

template <class Held>
std::string contents(const Held& buffer) {
  return buffer.data() == nullptr ? "none"
                                  : std::string(reinterpret_cast<const char*>(buffer.data()), 3) +
                                        std::to_string(buffer.nbytes());
}

void allocate_pages(Attempt& attempt) {
  Buffer buffer;
  attempt(
      [&] {
        Buffer made = Buffer::allocate(least_paged_nbytes, paged_allocator());
        std::memcpy(made.mutable_data(), "abc", 3);
        buffer = std::move(made);
      },
      [&] { return contents(buffer); });
}

void write_shared_pages(Attempt& attempt) {
  Buffer buffer = Buffer::allocate(least_paged_nbytes, paged_allocator());
  std::memcpy(buffer.mutable_data(), "abc", 3);
  Buffer overlay = buffer;
  attempt([&] { overlay.mutable_range(1, 1)[0] = std::byte{'d'}; },
          [&] { return contents(buffer) + contents(overlay); });
}

void write_shared_pages_in_parallel(Attempt& attempt) {
  Storage storage = Storage::allocate(least_paged_nbytes, paged_allocator());
  std::memcpy(storage.mutable_data(), "abc", 3);
  Storage overlay = storage.lazy_clone();
  attempt([&] { overlay.mutable_range_in_parallel(1, 1)[0] = std::byte{'d'}; },
          [&] { return contents(storage) + contents(overlay); });
}

void write_shared_overlay(Attempt& attempt) {
  Buffer buffer = Buffer::allocate(least_paged_nbytes, paged_allocator());
  std::memcpy(buffer.mutable_data(), "abc", 3);
  Buffer overlay = buffer;
  overlay.mutable_data()[0] = std::byte{'d'};
  Buffer clone = overlay;
  attempt([&] { clone.mutable_data()[2] = std::byte{'e'}; },
          [&] { return contents(buffer) + contents(overlay) + contents(clone); });
}

template <class Held>
void clone_pages_writably(Attempt& attempt) {
  Held held = Held::allocate(least_paged_nbytes, paged_allocator());
  std::memcpy(held.mutable_data(), "abc", 3);
  Held clone;
  attempt([&] { clone = held.writable_clone(); }, [&] { return contents(held) + contents(clone); });
}

/// Where a new file has to be had.
void clone_written_pages_writably(Attempt& attempt) {
  Buffer buffer = Buffer::allocate(least_paged_nbytes, paged_allocator());
  const Buffer first = buffer.writable_clone();
  std::memset(buffer.mutable_data(), 'a', least_paged_nbytes);
  Buffer second;
  attempt([&] { second = buffer.writable_clone(); },
          [&] { return contents(buffer) + contents(second); });
}

void write_file_of_format(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that is longer than what strings have in place";
  attempt(
      [&] {
        OutputFile file(path);
        file.write("bytes", 5);
        file.commit();
      },
      [&] {
        std::string names;
        for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
          names += file.path().filename().string() + " of " + read_file(file.path());
        }
        return names;
      });
}

void install_sink(Attempt& attempt) {
  attempt([] { const stats::InstalledSink sink([](const stats::CopyEvent&) {}); });
}

void limit_copies(Attempt& attempt) {
  Buffer one = Buffer::allocate(100);
  attempt([&] {
    try {
      stats::expect_copies_at_most(0, [&] {
        Buffer clone = one.lazy_clone();
        clone.mutable_data();
      });
    } catch (const TooManyCopies&) {
    } catch (const InvalidArgument&) {  // a build without stats
    }
  });
}

#if BYRE_STATS  // or nothing is recorded

// A record for which there is no memory is lost, and counted.

void record(Attempt& attempt) {
  attempt([&] {
    const trace::Recording recording;
    Buffer buffer = Buffer::allocate(100);
    const Buffer clone = buffer.lazy_clone({"a/rather/long/name/of/a/file.cpp", 1});
    buffer.mutable_data();
  });
}

template <class Show>
void show_recording(Attempt& attempt, Show show) {
  trace::Recording recording;
  {
    Buffer buffer = Buffer::allocate(100);
    const Buffer clone = buffer.lazy_clone({"a/rather/long/name/of/a/file.cpp", 1});
    buffer.mutable_data();
  }
  const std::uint64_t lost = recording.lost();
  attempt([&] { show(recording); }, [&] { return std::to_string(lost); });
}

void stop_recording(Attempt& attempt) {
  show_recording(attempt, [](trace::Recording& recording) { recording.stop(); });
}
void trace_as_json(Attempt& attempt) {
  show_recording(attempt, [](trace::Recording& recording) { recording.to_json(); });
}
void trace_as_text(Attempt& attempt) {
  show_recording(attempt, [](trace::Recording& recording) { recording.summary(); });
}
void write_trace(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that is longer than what strings have in place.json";
  show_recording(attempt, [&](trace::Recording& recording) { recording.write(path); });
}

#endif

// ---- reports

shadow::Violation violation() {
  const std::int64_t sizes[] = {2, 3, 2, 3, 2, 3, 2};
  shadow::Violation violation;
  violation.reshape = {{"a/rather/long/name/of/a/file.cpp", 1}, shadow::Shape(sizes), {}, {}};
  violation.write = {{"another/rather/long/name/of/a/file.cpp", 2}, shadow::Shape(sizes), {}, {}};
  violation.access = {{"one/more/rather/long/name/of/a/file.cpp", 3}, shadow::Shape(sizes), {}, {}};
  violation.count = 3;
  violation.untracked_escapes = 2;
  violation.first_escape = {"the/last/rather/long/name.cpp", 4};
  return violation;
}

template <std::string (*Print)(const shadow::Violation&)>
void print_violation(Attempt& attempt) {
  const shadow::Violation met = violation();
  std::string text;
  attempt([&] { text = Print(met); }, [&] { return text; });
}

template <std::string (*Print)(const shadow::Summary&)>
void print_sum(Attempt& attempt) {
  shadow::Summary sum;
  sum.first_escape = violation().first_escape;
  sum.triples = {violation(), violation()};
  std::string text;
  attempt([&] { text = Print(sum); }, [&] { return text; });
}

void print_shape(Attempt& attempt) {
  const shadow::Shape shape = violation().reshape.shape;
  std::string text;
  attempt([&] { text = shadow::to_string(shape); }, [&] { return text; });
}

/// So that there is one.
void rely_on_an_alias() {
  const shadow::ReshapeModeScope tracked(shadow::ReshapeMode::warn);
  const auto before = shadow::set_violation_handler([](const shadow::Violation&) noexcept {});
  const Tensor x = deep_tensor();
  x.reshape({-1}).set_at<float>({0}, 7);
  static_cast<void>(x.at<float>({0, 0, 0, 0, 0, 0}));
  shadow::set_violation_handler(before);
}

void sum_up(Attempt& attempt) {
  rely_on_an_alias();
  shadow::Summary sum;
  attempt([&] { sum = shadow::summary(); },
          [&] { return std::string(sum.triples.empty() ? "none" : "some"); });
}

void print_summary(Attempt& attempt) {
  rely_on_an_alias();
  const TemporaryFolder folder;
  const std::string path = (folder / "summary-%p.json").string();
  attempt([&] { shadow::print_summary(path); },
          [&] { return std::string(std::filesystem::is_empty(folder.path()) ? "none" : "one"); });
}

/// Each attempt's file has more lines than one: all suppress, or none.
void suppress(Attempt& attempt) {
  const TemporaryFolder folder;
  const std::string name = "suppressed" + std::to_string(attempt.number());
  const std::string other = "the/first/of/two/rather/long/names/" + name + "_in_front.cpp";
  const std::string last = "the/last/of/two/rather/long/names/" + name + ".cpp";
  write_file(folder / "list", "# comment\n" + other + ":12\n\n" + last + "\n");
  const auto path = folder / "list";
  const auto is_suppressed = [&] {
    shadow::reset_summary();
    const shadow::ReshapeModeScope tracked(shadow::ReshapeMode::warn);
    const auto before = shadow::set_violation_handler([](const shadow::Violation&) noexcept {});
    const Tensor x = deep_tensor();
    std::string text;
    for (const std::string& file : {other, last}) {
      x.reshape({-1}, {file.c_str(), 12}).set_at<float>({0}, 7);
      static_cast<void>(x.at<float>({0, 0, 0, 0, 0, 0}));
      text += std::to_string(shadow::summary().suppressed) + " ";
    }
    shadow::set_violation_handler(before);
    return text;
  };
  attempt([&] { shadow::suppress_sites(path); }, is_suppressed);
}

const Row rows[] = {
    {"PmrAllocator::allocate", allocate_pmr},
    {"Allocator::allocate_copy", allocate_copy},
    {"Allocator::submit_copy", submit_copy},
    of_bytes<Buffer>("Buffer::allocate", [](Buffer&) { return Buffer::allocate(50); }),
    of_bytes<Buffer>("Buffer::adopt",
                     [](Buffer&) { return Buffer::adopt(lent, sizeof lent, [](void*) {}); }),
    of_bytes<Buffer>("Buffer::borrow", [](Buffer&) { return Buffer::borrow(lent, sizeof lent); }),
    {"Buffer::map_file", map_file<Buffer>},
    of_bytes<Buffer>("Buffer::lazy_clone", [](Buffer& b) { return b.lazy_clone(); }),
    of_bytes<Buffer>("Buffer::lazy_clone",
                     [](Buffer&) { return Buffer::borrow(lent, sizeof lent).lazy_clone(); }),
    of_bytes<Buffer>("Buffer::mutable_data", [](Buffer& b) { return written_clone(b); }),
    {"Buffer::allocate", allocate_pages},
    {"Buffer::mutable_range", write_shared_pages},
    {"Buffer::mutable_data", write_shared_overlay},
    of_bytes<Buffer>("Buffer::writable_clone", [](Buffer& b) { return b.writable_clone(); }),
    {"Buffer::writable_clone", clone_pages_writably<Buffer>},
    {"Buffer::writable_clone", clone_written_pages_writably},
    of_bytes<Buffer>("Buffer::resize", [](Buffer& b) { return b.resize(200), Buffer(); }),
    {"Buffer::shrink_to_fit", shrink_to_fit<Buffer>},
    of_bytes<Storage>("Storage::Storage", [](Storage&) { return Storage(Buffer::allocate(50)); }),
    of_bytes<Storage>("Storage::allocate", [](Storage&) { return Storage::allocate(50); }),
    {"Storage::map_file", map_file<Storage>},
    of_bytes<Storage>("Storage::lazy_clone", [](Storage& s) { return s.lazy_clone(); }),
    of_bytes<Storage>("Storage::writable_clone", [](Storage& s) { return s.writable_clone(); }),
    {"Storage::writable_clone", clone_pages_writably<Storage>},
    of_bytes<Storage>("Storage::mutable_data", [](Storage& s) { return written_clone(s); }),
    of_bytes<Storage>("Storage::mutable_data_in_parallel",
                      [](Storage& s) {
                        Storage clone = s.lazy_clone();
                        clone.mutable_data_in_parallel()[0] = std::byte{1};
                        return clone;
                      }),
    {"Storage::mutable_range_in_parallel", write_shared_pages_in_parallel},
    of_bytes<Storage>("Storage::resize", [](Storage& s) { return s.resize(200), Storage(); }),
    {"Storage::shrink_to_fit", shrink_to_fit<Storage>},
    of_nothing("explain", [] { return explain(Buffer::allocate(100)); }),
    of_nothing("explain", [] { return explain(Storage::allocate(100)); }),

    {"OutputFile::OutputFile", write_file_of_format},
    {"OutputFile::write", write_file_of_format},
    {"OutputFile::commit", write_file_of_format},

    {"stats::InstalledSink::InstalledSink", install_sink},
    {"stats::CopyLimit::CopyLimit", limit_copies},
#if BYRE_STATS
    {"trace::Recording::Recording", record},
    {"trace::Recording::stop", stop_recording},
    {"trace::Recording::to_json", trace_as_json},
    {"trace::Recording::summary", trace_as_text},
    {"trace::Recording::write", write_trace},
#endif
    {"shadow::to_string", print_violation<shadow::to_string>},
    {"shadow::to_json", print_violation<shadow::to_json>},
    {"shadow::to_string", print_sum<shadow::to_string>},
    {"shadow::to_json", print_sum<shadow::to_json>},
    {"shadow::to_string", print_shape},
    {"shadow::summary", sum_up},
    {"shadow::print_summary", print_summary},
    {"shadow::suppress_sites", suppress},
};

}  // namespace core_rows

std::span<const Row> rows_of_core() {
  return core_rows::rows;
}

}  // namespace byre::test
