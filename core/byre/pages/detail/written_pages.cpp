// SPDX-License-Identifier: BSL-1.0
#include <byre/pages/detail/page_file.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/page_map.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// If at most an eighth of all pages was written, copying only these pages costs less than copying
/// all bytes. If more pages were written, a full copy costs less, because each page that is written
/// later in an overlay costs a page fault. docs/parts.md lists the figures.
constexpr std::size_t moved_pages_divisor = 8;

/// Copies a run of pages to another mapping. Returns false if memory for them is lacking.
bool copy_run(std::byte* to, const std::byte* from, std::size_t nbytes) noexcept {
  if (!system::populate(to, nbytes)) {
    return false;
  }
  std::memcpy(to, from, nbytes);
  return true;
}

/// Passes runs of pages to `take` and sums up their bytes. Stops if `take` returns false, or before
/// the sum would exceed the limit.
template <class Take>
class Limited {
 public:
  Limited(Take take, std::size_t limit) noexcept : take_(take), most_nbytes_(limit) {}

  void operator()(std::size_t offset, std::size_t nbytes) noexcept {
    failed_ = failed_ || nbytes > most_nbytes_ - nbytes_ || !take_(offset, nbytes);
    nbytes_ += failed_ ? 0 : nbytes;
  }

  bool failed() const noexcept { return failed_; }
  std::optional<std::size_t> taken() const noexcept {
    return failed_ ? std::nullopt : std::optional(nbytes_);
  }

 private:
  Take take_;
  const std::size_t most_nbytes_;
  std::size_t nbytes_ = 0;
  bool failed_ = false;
};

/// The method for systems that do not report written pages. Visits the pages of `written` that
/// differ from the file's pages.
template <class Visit>
void for_each_differing_page(const std::byte* shown, const std::byte* written, std::size_t nbytes,
                             std::size_t page, Visit& visit) noexcept {
  for (std::size_t at = 0; at < nbytes && !visit.failed(); at += page) {
    if (std::memcmp(shown + at, written + at, page) != 0) {
      visit(at, page);
    }
  }
}

/// Calls `visit(offset, nbytes)` until `visit.failed()`; see PageMap::for_each_private_run().
template <class Visit>
bool for_each_private_run(system::PageMap& map, const std::byte* begin, std::size_t nbytes,
                          Visit& visit) noexcept {
  const auto call = [](void* of, std::size_t offset, std::size_t run_nbytes) noexcept {
    Visit& self = *static_cast<Visit*>(of);
    self(offset, run_nbytes);
    return !self.failed();
  };
  return map.for_each_private_run(begin, nbytes, call, &visit);
}

/// Passes the runs of pages that were written in the mapping `written` to `take`. `shown` maps the
/// file's bytes, for a comparison if the system does not report written pages.
template <class Take>
std::optional<std::size_t> take_written_pages(const std::byte* shown, const std::byte* written,
                                              std::size_t nbytes, MovedPages moved,
                                              Take take) noexcept {
  Limited visit(take, moved == MovedPages::few ? nbytes / moved_pages_divisor
                                               : std::numeric_limits<std::size_t>::max());
  nbytes = system::in_whole_pages(nbytes);
  system::PageMap map;
  if (!for_each_private_run(map, written, nbytes, visit)) {
    for_each_differing_page(shown, written, nbytes, system::actual_page_nbytes(), visit);
  }
  return visit.taken();
}

struct CountBytes {
  std::size_t nbytes = 0;

  void operator()(std::size_t, std::size_t run_nbytes) noexcept { nbytes += run_nbytes; }
  static bool failed() noexcept { return false; }
};

}  // namespace

bool is_much_written(const std::byte* mapping, std::size_t nbytes) noexcept {
  constexpr std::size_t most_samples = 64;
  const std::size_t page = system::actual_page_nbytes();
  const std::size_t pages = nbytes / page;
  const std::size_t samples = std::min(most_samples, pages);
  system::PageMap map;
  CountBytes written;
  for (std::size_t index = 0; index < samples; ++index) {
    if (!for_each_private_run(map, mapping + pages * index / samples * page, page, written)) {
      return false;
    }
  }
  return written.nbytes > samples * page / moved_pages_divisor;
}

void for_each_written_run(const std::byte* mapping, std::size_t nbytes,
                          void (*visit)(void* context, std::size_t offset,
                                        std::size_t nbytes) noexcept,
                          void* context) noexcept {
  struct Visit {
    decltype(visit) call;
    void* context;
    std::size_t begin = 0;
    std::size_t end = 0;

    /// The system may report one run in several parts; joins them.
    void operator()(std::size_t offset, std::size_t run_nbytes) noexcept {
      if (offset != end) {
        flush();
        begin = offset;
      }
      end = offset + run_nbytes;
    }
    void flush() const noexcept {
      if (end != begin) {
        call(context, begin, end - begin);
      }
    }
    static bool failed() noexcept { return false; }
  } runs{visit, context};
  system::PageMap map;
  for_each_private_run(map, mapping, nbytes, runs);
  runs.flush();
}

std::optional<std::size_t> visit_written_pages(const std::byte* mapping, std::size_t nbytes,
                                               bool (*visit)(void* context, std::size_t offset,
                                                             std::size_t nbytes) noexcept,
                                               void* context) noexcept {
  const auto take = [=](std::size_t offset, std::size_t run_nbytes) noexcept {
    return visit(context, offset, run_nbytes);
  };
  Limited limited(take, nbytes / moved_pages_divisor);
  system::PageMap map;
  return for_each_private_run(map, mapping, system::in_whole_pages(nbytes), limited)
             ? limited.taken()
             : std::nullopt;
}

std::size_t count_written_pages(const void* mapping, std::size_t nbytes) noexcept {
  CountBytes count;
  system::PageMap map;
  const bool is_known = for_each_private_run(map, static_cast<const std::byte*>(mapping),
                                             system::in_whole_pages(nbytes), count);
  return is_known ? count.nbytes : 0;
}

std::unique_ptr<PageFile> PageFile::copy_to_new_file(const std::byte* source) {
  auto file = create_memory_file(nbytes_, Present::when_touched);
  if (file == nullptr || !system::populate(file->data(), nbytes_)) {
    return nullptr;
  }
  std::memcpy(file->data(), source, nbytes_);
  return file;
}

std::optional<std::size_t> copy_written_pages(std::byte* to, const std::byte* from,
                                              std::size_t nbytes) noexcept {
  // Bytes of the last page behind the data are not data. Unmapping `nbytes` bytes does not tell
  // ThreadSanitizer that these end, so a copy of them would appear to race later mappings.
  return take_written_pages(
      to, from, nbytes, MovedPages::few, [&](std::size_t offset, std::size_t run_nbytes) noexcept {
        return copy_run(to + offset, from + offset, std::min(run_nbytes, nbytes - offset));
      });
}

std::optional<std::size_t> write_back_pages(std::byte* shown, const std::byte* mapping,
                                            std::size_t nbytes, MovedPages moved,
                                            bool (*end_run)(void* context, std::size_t offset,
                                                            std::size_t nbytes) noexcept,
                                            void* context) noexcept {
  return take_written_pages(shown, mapping, nbytes, moved,
                            [&](std::size_t offset, std::size_t run_nbytes) noexcept {
                              return copy_run(shown + offset, mapping + offset, run_nbytes) &&
                                     end_run(context, offset, run_nbytes);
                            });
}

}  // namespace byre::inline BYRE_ABI::detail
