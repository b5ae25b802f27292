// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/escaped_places.hpp>
#include <byre/shadow/intern_table.hpp>
#include <byre/shadow/place.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <array>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstring>
#include <exception>
#include <map>
#include <set>
#include <string_view>
#include <utility>

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
  return sync::no_destructor<FileNames>();
}

/// A place in the table, with a name of its file that stays, and what is counted there. Equal are
/// those of one line.
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
  mutable Tally escapes;
};

constinit Tally escapes_at_unknown_places;

using EscapedPlaces = basic_escaped_places<sync::Boost>;

using Places = basic_intern_table<sync::Boost, KeptPlace, 16384, most_places>;

Places& places() noexcept {
  return sync::no_destructor<Places>();
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

/// What stands for the reshapes that something in a recursion came out of.
bool is_somewhere(PlaceId id) noexcept {
  return id == warning_reshape || id == throwing_reshape;
}

/// True iff they are one reshape, or may be: as far as the reshapes are known that they came out of,
/// these are the same.
bool may_be_one(PlaceId a, PlaceId b) noexcept {
  for (bool is_any_known = false; a != b; is_any_known = true) {
    if (is_somewhere(a) || is_somewhere(b)) {
      return is_any_known;
    }
    if (a == 0 || b == 0 || place(a).mode != place(b).mode ||
        !same_line(place(a).site, place(b).site)) {
      return false;
    }
    a = place(a).came_from;
    b = place(b).came_from;
  }
  return true;
}

/// True iff the family of `later` came out of that of `earlier`, or is it.
bool came_out_of(PlaceId later, PlaceId earlier) noexcept {
  while (later != 0 && !may_be_one(later, earlier)) {
    later = place(later).came_from;
  }
  return later != 0 || earlier == 0;
}

/// Where the known part of what a family came out of begins.
bool is_first_known(const Place& reshape) noexcept {
  return is_somewhere(reshape.came_from) && reshape.is_known() &&
         place(reshape.came_from).mode == reshape.mode;
}

/// How many ways there are to come from one line to the next.
class Ways {
 public:
  /// Takes one of them for a place, unless another thread just did, and keeps the place. False if there
  /// is none left, or no memory.
  bool take(const Place& to, const Place& from) noexcept {
    try {
      const boost::lock_guard<boost::mutex> lock(mutex_);
      if (places().find(KeptPlace(to), hash_of(to)) != 0) {
        return true;
      }
      unsigned& taken = taken_[{line_of(to), line_of(from)}];
      const bool is_kept = taken < most_ways && places().number_of(KeptPlace(to), hash_of(to)) != 0;
      taken += is_kept ? 1 : 0;
      return is_kept;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  using Line = std::pair<std::string, std::uint32_t>;
  static Line line_of(const Place& place) { return {place.site.file, place.site.line}; }

  boost::mutex mutex_;
  std::map<std::pair<Line, Line>, unsigned> taken_;
};

unsigned depth_of(PlaceId id) noexcept {
  unsigned depth = 0;
  for (; id != 0; id = place(id).came_from) {
    ++depth;
  }
  return depth;
}

bool is_told_apart(const Place& reshape) noexcept {
  return reshape.came_from == 0 || is_somewhere(reshape.came_from) ||
         places().find(KeptPlace(reshape), hash_of(reshape)) != 0 ||
         (depth_of(reshape.came_from) < most_reshapes_of_reshapes &&
          sync::no_destructor<Ways>().take(reshape, place(reshape.came_from)));
}

/// Of any reshape at this line, whatever it came out of.
PlaceId any_at_the_line_of(PlaceId id) noexcept {
  Place any = place(id);
  if (any.came_from != 0) {
    any.came_from = is_of_error_mode(place(any.came_from)) ? throwing_reshape : warning_reshape;
  }
  return place_id(any);
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

void detail::count_escape_at(PlaceId id) noexcept {
  Tally* const escapes = place(id).is_known() ? &places().at(id).escapes : nullptr;
  if (escapes != nullptr && sync::no_destructor<EscapedPlaces>().note(id, *escapes)) {
    escapes->add();
  } else {
    escapes_at_unknown_places.add();
  }
}

void detail::visit_escapes(const std::function<void(const CallSite&, Tally&)>& visit) {
  visit(CallSite{}, escapes_at_unknown_places);
  sync::no_destructor<EscapedPlaces>().for_each([&](PlaceId id) {
    const KeptPlace& each = places().at(id);
    visit(each.place.site, each.escapes);
  });
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
  Place made{.site = site, .shape = to, .from = from, .came_from = input, .mode = mode};
  if (!is_told_apart(made)) {
    made.came_from = any_at_the_line_of(input);
  }
  return made;
}

Parting parting_of(PlaceId accessing, PlaceId writing) noexcept {
  const bool writer_is_reshaped = accessing != writing && came_out_of(writing, accessing);
  PlaceId reshape = writer_is_reshaped ? writing : accessing;
  const PlaceId other = writer_is_reshaped ? accessing : writing;
  // Up, to the reshape of what both came out of.
  while (reshape != 0 && !is_first_known(place(reshape)) &&
         !came_out_of(other, place(reshape).came_from)) {
    reshape = place(reshape).came_from;
  }
  return {reshape, writer_is_reshaped, accessing != writing && came_out_of(accessing, writing)};
}

}  // namespace byre::inline v0::shadow
