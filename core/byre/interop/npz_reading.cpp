// SPDX-License-Identifier: BSL-1.0
#include <byre/files/detail/input_file.hpp>
#include <byre/interop/detail/format.hpp>
#include <byre/interop/detail/npy_array.hpp>
#include <byre/interop/npz.hpp>
#include <byre/memory/allocator.hpp>

#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>

namespace byre::inline BYRE_ABI {
namespace {

using ReadAt = std::function<void(std::size_t offset, void* destination, std::size_t nbytes)>;

ReadAt copied_from(const std::byte* bytes) {
  return [bytes](std::size_t offset, void* destination, std::size_t nbytes) {
    std::memcpy(destination, bytes + offset, nbytes);
  };
}

/// An archive that libzip reads. For one thread at a time. Members throw FileError, which names
/// `source`, or OutOfMemory.
class Archive {
 public:
  Archive(std::size_t nbytes, ReadAt read_at, const char* source)
      : nbytes_(nbytes), read_at_(std::move(read_at)), path_(source) {
    const auto answer = [](void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
      return static_cast<Archive*>(self)->answer(data, length, command);
    };
    zip_source_t* const bytes = zip_source_function_create(answer, this, &error_);
    if (bytes != nullptr) {
      archive_.reset(zip_open_from_source(bytes, ZIP_RDONLY | ZIP_CHECKCONS, &error_));
    }
    if (archive_ == nullptr) {
      zip_source_free(bytes);
    }
    expect(archive_ != nullptr, "libzip rejects the archive", &error_);
    const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive_.get(), 0));
    for (zip_uint64_t index = 0; index < count; ++index) {
      find_member(index, source);
    }
    path_ = source;
    std::vector<Member> sorted = members_;
    std::ranges::sort(sorted, {}, &Member::begin);
    const auto overlap = [](auto& before, auto& after) { return after.begin < before.end; };
    expect(std::ranges::adjacent_find(sorted, overlap) == sorted.end(),
           "some of its members overlap");
  }
  Archive(Archive&&) = delete;

  /// The tensors in the order of the directory. A member is used in place in `mapped`, the mapped
  /// archive, if possible.
  NamedTensors tensors(const Storage* mapped) {
    NamedTensors tensors;
    for (const Member& member : members_) {
      path_ = member.path;
      const bool may_be_mapped = mapped != nullptr && member.is_stored;
      tensors.emplace_back(member.name, may_be_mapped ? map(member, *mapped) : load(member));
    }
    return tensors;
  }

 private:
  struct Close {
    void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
    void operator()(zip_file_t* file) const noexcept { zip_fclose(file); }
  };
  struct Error : zip_error_t {
    ~Error() { zip_error_fini(this); }
  };
  struct Member {
    zip_uint64_t index;
    std::string name;  // the tensor's name
    std::string path;  // the member's path, for messages
    bool is_stored;
    std::size_t nbytes;
    std::size_t begin;  // the offset of the data in the archive
    std::size_t end;
  };

  /// A callback of libzip, noexcept because exceptions cannot cross libzip.
  zip_int64_t answer(void* data, zip_uint64_t nbytes, zip_source_cmd_t command) noexcept {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_SEEKABLE |
               ZIP_SOURCE_MAKE_COMMAND_BITMASK(ZIP_SOURCE_ACCEPT_EMPTY);
      case ZIP_SOURCE_STAT:
        static_cast<zip_stat_t*>(data)->valid = ZIP_STAT_SIZE;
        static_cast<zip_stat_t*>(data)->size = nbytes_;
        return sizeof(zip_stat_t);
      case ZIP_SOURCE_SEEK: {
        const auto to = zip_source_seek_compute_offset(position_, nbytes_, data, nbytes, &error_);
        position_ = to < 0 ? position_ : static_cast<std::size_t>(to);
        return to < 0 ? -1 : 0;
      }
      case ZIP_SOURCE_TELL:
        return static_cast<zip_int64_t>(position_);
      case ZIP_SOURCE_READ:
        try {
          const auto count = std::min(static_cast<std::size_t>(nbytes), nbytes_ - position_);
          read_at_(position_, data, count);
          position_ += count;
          return static_cast<zip_int64_t>(count);
        } catch (...) {
          failure_ = std::current_exception();
          zip_error_set(&error_, ZIP_ER_READ, 0);
          return -1;
        }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, nbytes);
      default:  // opening and closing need no action; empty files are rejected
        return 0;
    }
  }

  void find_member(zip_uint64_t index, const char* source) {
    constexpr zip_uint64_t max_expansion = 1032;  // the longest match: 2 bits become 258 bytes
    zip_stat_t stat;
    expect(zip_stat_index(archive_.get(), index, ZIP_FL_ENC_RAW, &stat) == 0,
           "libzip cannot describe a member", zip_get_error(archive_.get()));
    const std::string_view name = stat.name;
    path_ = std::string(source) + "/" + detail::printable(name);
    const bool is_stored = stat.comp_method == ZIP_CM_STORE;
    expect(is_stored || stat.comp_method == ZIP_CM_DEFLATE, "it is neither stored nor deflated");
    expect(stat.size <= max_nbytes && (is_stored ? stat.size == stat.comp_size
                                                 : stat.size / max_expansion <= stat.comp_size),
           "its sizes are inconsistent");
    expect(name.ends_with(".npy"), "its name does not end in .npy");
    // libzip does not report the offset at which the data of a member begin. After a read of one
    // byte, the last byte that libzip has read from the archive is the first byte of the data,
    // because libzip does not read ahead. If libzip read ahead, the mapped bytes would not begin
    // with the header of an array, and would be rejected.
    open(index, ZIP_FL_COMPRESSED);
    std::byte first{};
    const std::size_t begin = read({&first, 1}) ? position_ - 1 : nbytes_;
    expect(stat.comp_size <= nbytes_ - begin, "it ends after the end of the file");
    members_.push_back({index, std::string(name.substr(0, name.size() - 4)), path_, is_stored,
                        static_cast<std::size_t>(stat.size), begin,
                        begin + static_cast<std::size_t>(stat.comp_size)});
  }

  void open(zip_uint64_t index, zip_flags_t flags) {
    file_.reset(zip_fopen_index(archive_.get(), index, flags));
    expect(file_ != nullptr, "it cannot be opened", zip_get_error(archive_.get()));
  }

  /// Fills `destination`. False if fewer bytes follow. libzip verifies the CRC-32 at the end.
  bool read(std::span<std::byte> destination) {
    zip_int64_t count = 1;
    while (count > 0 && !destination.empty()) {
      count = zip_fread(file_.get(), destination.data(), destination.size());
      expect(count >= 0, "it cannot be read", zip_file_get_error(file_.get()));
      destination = destination.subspan(static_cast<std::size_t>(count));
    }
    return destination.empty();
  }

  Tensor load(const Member& member) {
    open(member.index, 0);
    std::vector<std::byte> start(std::min(member.nbytes, npy_header_max_nbytes));
    std::size_t left = member.nbytes;
    const auto read_next = [&](std::byte* to, std::size_t nbytes) {
      left -= nbytes;
      std::byte beyond{};
      expect(read({to, nbytes}) && (left != 0 || !read({&beyond, 1})),
             "its length differs from the directory's");
    };
    read_next(start.data(), start.size());
    return detail::loaded_npy(start, member.nbytes, path_.c_str(), read_next);
  }

  Tensor map(const Member& member, const Storage& file) {
    const std::span bytes(file.data() + member.begin, member.nbytes);
    const NpyHeader header = detail::npy_header_of(bytes, bytes.size(), path_.c_str());
    const detail::StoredElements elements = detail::elements_of(header, path_.c_str());
    const std::size_t offset = member.begin + header.data_offset;
    return are_usable(elements, offset)
               ? detail::in_array_order(header, mapped(elements, file.lazy_clone(), offset))
               : load(member);
  }

  void expect(bool condition, const char* message, zip_error_t* error = nullptr) const {
    if (condition) {
      return;
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    if (error != nullptr && (zip_error_code_zip(error) == ZIP_ER_MEMORY ||
                             (zip_error_system_type(error) == ZIP_ET_ZLIB &&
                              zip_error_code_system(error) == Z_MEM_ERROR))) {
      throw OutOfMemory::of_heap("reading a .npz file");
    }
    const char* const why = error == nullptr ? "" : zip_error_strerror(error);
    throw FileError(format_text(
        "cannot read \"%.400s\" of a .npz file: %s%s%.100s. Is it complete? If you trust "
        "it, save it again with numpy.savez.",
        path_.c_str(), message, *why == 0 ? "" : ": ", why));
  }

  const std::size_t nbytes_;
  const ReadAt read_at_;
  std::string path_;            // the path of the archive or current member, for messages
  std::size_t position_ = 0;    // the offset of libzip's next read
  Error error_{};               // the error of opening the archive or of the last callback
  std::exception_ptr failure_;  // the exception that read_at_ threw
  std::unique_ptr<zip_t, Close> archive_;
  std::unique_ptr<zip_file_t, Close> file_;
  std::vector<Member> members_;
};

}  // namespace

NamedTensors load_npz(FileName name) try {
  detail::InputFile file(name.c_str());
  const auto read_at = [&](std::size_t offset, void* destination, std::size_t nbytes) {
    file.seek(offset);
    file.read(destination, nbytes);
  };
  return Archive(file.nbytes(), read_at, name.c_str()).tensors(nullptr);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("load_npz");
}

NamedTensors read_npz(std::span<const std::byte> bytes) try {
  return Archive(bytes.size(), copied_from(bytes.data()), "memory").tensors(nullptr);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("read_npz");
}

NamedTensors map_npz(FileName name) try {
  const Storage file = Storage::map_file(name);
  return Archive(file.nbytes(), copied_from(file.data()), name.c_str()).tensors(&file);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("map_npz");
}

}  // namespace byre::inline BYRE_ABI
