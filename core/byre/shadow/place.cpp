// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/intern_table.hpp>
#include <byre/shadow/place.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/immortal.hpp>

#include <array>
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

FileNames& file_names() noexcept {
  return sync::immortal<FileNames>();
}

/// A place in the table, with a name of its file that stays. Equal are those of one line.
struct KeptPlace {
  KeptPlace() noexcept = default;
  explicit KeptPlace(const Place& given) noexcept : place(given) {}
  KeptPlace(const KeptPlace&) = delete;
  KeptPlace& operator=(const KeptPlace& other) noexcept {
    place = other.place;
    place.site = kept(other.place.site);
    return *this;
  }
  friend bool operator==(const KeptPlace& a, const KeptPlace& b) noexcept {
    return a.place.came_from == b.place.came_from && a.place.mode == b.place.mode &&
           same_line(a.place.site, b.place.site);
  }

  Place place;
};

using Places = basic_intern_table<sync::Boost, KeptPlace, 16384, most_places>;

Places& places() noexcept {
  return sync::immortal<Places>();
}

class Hash {
 public:
  void add(std::uint64_t number) noexcept {
    value_ = (value_ ^ number) * 0x9e3779b97f4a7c15;
    value_ ^= value_ >> 32;
  }
  std::size_t value() const noexcept { return static_cast<std::size_t>(value_); }

 private:
  std::uint64_t value_ = 0;
};

std::size_t hash_of(const Place& place) noexcept {
  Hash hash;
  hash.add(std::hash<std::string_view>()(place.site.file));
  hash.add(place.site.line);
  hash.add(place.came_from);
  hash.add(place.mode ? 1 + static_cast<std::uint64_t>(*place.mode) : 0);
  return hash.value();
}

/// Where there is no room for a place: a reshape in warn and in error mode, and an access by a family
/// that came out of each.
constexpr PlaceId warning_reshape = most_places + 1;
constexpr PlaceId throwing_reshape = most_places + 2;
constexpr PlaceId access_after_warning_reshape = most_places + 3;
constexpr PlaceId access_after_throwing_reshape = most_places + 4;
static_assert(access_after_throwing_reshape == WriteMark::max_place);
constexpr std::array<Place, 4> places_without_a_line{{{.mode = ReshapeMode::warn},
                                                      {.mode = ReshapeMode::error},
                                                      {.came_from = warning_reshape},
                                                      {.came_from = throwing_reshape}}};

bool is_of_error_mode(const Place& last) noexcept {
  for (const Place* each = &last;; each = &place(each->came_from)) {
    if (each->mode == ReshapeMode::error || each->came_from == 0) {
      return each->mode == ReshapeMode::error;
    }
  }
}

PlaceId id_without_a_line(const Place& place) noexcept {
  if (place.mode) {
    return is_of_error_mode(place) ? throwing_reshape : warning_reshape;
  }
  return place.came_from == 0      ? 0
         : is_of_error_mode(place) ? access_after_throwing_reshape
                                   : access_after_warning_reshape;
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

CallSite kept(const CallSite& site) noexcept {
  return {file_names().keep(site.file), site.line};
}

PlaceId place_id(const Place& place) noexcept {
  const PlaceId id = places().number_of(KeptPlace(place), hash_of(place));
  if (id == 0) {
    return id_without_a_line(place);
  }
  if (backtraces_are_kept()) {
    keep_backtrace(id);
  }
  return id;
}

const Place& place(PlaceId id) noexcept {
  static constexpr Place unknown{};
  return id == 0             ? unknown
         : id <= most_places ? places().at(id).place
                             : places_without_a_line[id - most_places - 1];
}

bool is_of_access(PlaceId id, const CallSite& site, PlaceId reshape) noexcept {
  const Place& known = place(id);
  return known.is_known() && !known.mode && known.came_from == reshape &&
         same_line(known.site, site);
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
