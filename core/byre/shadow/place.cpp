// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/intern_table.hpp>
#include <byre/shadow/place.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/immortal.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstring>
#include <exception>
#include <set>
#include <string_view>

namespace byre::inline v0::shadow {
namespace {

/// Names of files, of which each is kept once: places of one file have one pointer.
class FileNames {
 public:
  /// "?" if there is no memory.
  const char* keep(const char* name) noexcept {
    try {
      const boost::lock_guard<boost::mutex> lock(mutex_);
      const auto kept = names_.find(std::string_view(name));
      return (kept != names_.end() ? kept : names_.emplace(name).first)->c_str();
    } catch (const std::exception&) {
      return CallSite{}.file;
    }
  }

 private:
  boost::mutex mutex_;
  std::set<std::string, std::less<>> names_;
};

/// A place in the table, with a name of its file that stays.
struct KeptPlace {
  KeptPlace() noexcept = default;
  explicit KeptPlace(const Place& given) noexcept : place(given) {}
  KeptPlace(const KeptPlace&) = delete;
  KeptPlace& operator=(const KeptPlace& other) noexcept {
    place = other.place;
    place.site.file = sync::immortal<FileNames>().keep(other.place.site.file);
    return *this;
  }
  friend bool operator==(const KeptPlace&, const KeptPlace&) noexcept = default;

  Place place;
};

using Places = basic_intern_table<sync::Boost, KeptPlace, 16384, WriteMark::max_place>;

Places& places() noexcept {
  return sync::immortal<Places>();
}

class Hash {
 public:
  void add(std::uint64_t number) noexcept {
    value_ = (value_ ^ number) * 0x9e3779b97f4a7c15;
    value_ ^= value_ >> 32;
  }
  void add(const Shape& shape) noexcept {
    add(shape.ndim());
    for (const std::int64_t size : shape.sizes()) {
      add(static_cast<std::uint64_t>(size));
    }
  }
  std::size_t value() const noexcept { return static_cast<std::size_t>(value_); }

 private:
  std::uint64_t value_ = 0;
};

std::size_t hash_of(const Place& place) noexcept {
  Hash hash;
  hash.add(std::hash<std::string_view>()(place.site.file));
  hash.add(place.site.line);
  hash.add(place.shape);
  hash.add(place.from);
  hash.add(place.came_from);
  hash.add(place.mode ? 1 + static_cast<std::uint64_t>(*place.mode) : 0);
  return hash.value();
}

/// True iff the family of `later` came out of that of `earlier`, or is it.
bool came_out_of(PlaceId later, PlaceId earlier) noexcept {
  while (later != earlier && later != 0) {
    later = place(later).came_from;
  }
  return later == earlier;
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape.sizes()) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + (shape.has_more() ? ", ...]" : "]");
}

bool same_line(const CallSite& a, const CallSite& b) noexcept {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

bool operator==(const Place& a, const Place& b) noexcept {
  return a.shape == b.shape && a.from == b.from && a.came_from == b.came_from && a.mode == b.mode &&
         same_line(a.site, b.site);
}

PlaceId place_id(const Place& place) noexcept {
  const PlaceId id = places().number_of(KeptPlace(place), hash_of(place));
  if (id != 0 && backtraces_are_kept()) {
    keep_backtrace(id);
  }
  return id;
}

const Place& place(PlaceId id) noexcept {
  static constexpr Place unknown{};
  return id == 0 ? unknown : places().at(id).place;
}

Place reshape_place(const CallSite& site, const Shape& from, const Shape& to, ReshapeMode mode,
                    PlaceId input) noexcept {
  PlaceId came_from = input;
  unsigned depth = 0;
  for (PlaceId earlier = input; earlier != 0; earlier = place(earlier).came_from) {
    ++depth;
    if (same_line(place(earlier).site, site)) {
      came_from = place(earlier).came_from;
    }
  }
  came_from = depth < most_reshapes_of_reshapes ? input : came_from;
  return {.site = site, .shape = to, .from = from, .came_from = came_from, .mode = mode};
}

Parting parting_of(PlaceId accessing, PlaceId writing) noexcept {
  const bool writer_is_reshaped = accessing != writing && came_out_of(writing, accessing);
  PlaceId reshape = writer_is_reshaped ? writing : accessing;
  const PlaceId other = writer_is_reshaped ? accessing : writing;
  // Up, to the reshape of what both came out of.
  while (reshape != 0 && !came_out_of(other, place(reshape).came_from)) {
    reshape = place(reshape).came_from;
  }
  return {reshape, writer_is_reshaped};
}

}  // namespace byre::inline v0::shadow
