// SPDX-License-Identifier: BSL-1.0
/// Files that other code in the process closes, or that a program with closed standard streams
/// opens.
#include <byre/error/error.hpp>
#include <byre/files/detail/input_file.hpp>
#include <byre/files/output_file.hpp>
#include <byre/memory/pages.hpp>
#include <byre/storage/buffer.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "output_file_fixture.hpp"
#include "pages/children.hpp"
#include "support/caught_warnings.hpp"
#include "support/complaint.hpp"

namespace byre::test {
namespace {

class ClosedFiles : public OutputFileTest {
 protected:
  ~ClosedFiles() override {
    for (const int number : taken_) {
      ::close(number);
    }
  }

  void expect_commit_after_the_folder_is_closed(OutputFile& output) {
    output.write("after", 5);
    for (int number = 3; number < 1000; ++number) {
      struct ::stat status {};
      if (is_new(number) && ::fstat(number, &status) == 0 && S_ISDIR(status.st_mode)) {
        ::close(number);
      }
    }
    output.commit();
    EXPECT_EQ(read_file(path), "after");
    EXPECT_EQ(files(), 1);
  }

  /// Closes each descriptor that this test has opened, and opens another file with its number.
  void take_numbers() {
    for (int number = 3; number < 1000; ++number) {
      if (is_new(number) && ::fcntl(number, F_GETFD) >= 0) {
        ::close(number);
        EXPECT_EQ(::open(others_.c_str(), O_RDWR | O_CREAT, 0600), number);
        taken_.push_back(number);
      }
    }
    EXPECT_FALSE(taken_.empty());
    write_file(others_, "other data");
  }

  void expect_others_untouched() const {
    for (const int number : taken_) {
      EXPECT_GE(::fcntl(number, F_GETFD), 0) << number;
      EXPECT_EQ(::lseek(number, 0, SEEK_CUR), 0) << number;
    }
    EXPECT_EQ(read_file(others_), "other data");
  }

  /// The number of files in the folder, without `others_`.
  std::ptrdiff_t own_files() const { return files() - 1; }

 private:
  const fs::path others_ = folder / "others";
  std::vector<int> taken_;
};

TEST_F(ClosedFiles, writes_and_commits_fail_and_keep_the_old_file) {
  enum { written, committed, discarded };
  for (const auto then : {written, committed, discarded}) {
    write_file(path, "before");
    {
      OutputFile output(path);
      if (then != written) {
        output.write("after", 5);
      }
      take_numbers();
      if (then != discarded) {
        EXPECT_TRUE(says(complaint_of<FileError>(
                             [&] { then == written ? output.write("after", 5) : output.commit(); }),
                         "other code closed its descriptor"));
        EXPECT_THROW(output.write_at(0, "after", 5), FileError);
      }
    }
    expect_others_untouched();
    EXPECT_EQ(read_file(path), "before") << then;
    EXPECT_EQ(own_files(), 1) << then;
  }
}

TEST_F(ClosedFiles, a_temporary_file_left_in_a_moved_folder_causes_a_warning) {
  const fs::path inner = folder / "inner";
  for (const char* const moved : {"moved", "replaced"}) {
    fs::create_directory(inner);
    const CaughtWarnings warnings;
    {
      OutputFile output(inner / "file");
      take_numbers();
      fs::rename(inner, folder / moved);
      if (moved == std::string_view("replaced")) {
        fs::create_directory(inner);
      }
    }
    expect_others_untouched();
    ASSERT_EQ(warnings.texts().size(), 1U);
    EXPECT_TRUE(says(warnings.texts()[0], (inner / ".byre-").string()));
  }
}

TEST_F(ClosedFiles, a_missing_temporary_file_is_discarded_silently) {
  const CaughtWarnings warnings;
  {
    OutputFile output(path);
    fs::remove(fs::directory_iterator(folder.path())->path());
  }
  EXPECT_EQ(warnings.texts().size(), 0U);
}

TEST_F(ClosedFiles, commit_succeeds_if_other_code_closed_only_the_folder) {
  OutputFile output(path);
  expect_commit_after_the_folder_is_closed(output);
}

TEST_F(ClosedFiles, writes_in_place_fail) {
  write_file(path, "before");
  const int own = ::open(path.c_str(), O_RDWR | O_APPEND);
  {
    OutputFile output("/proc/self/fd/" + std::to_string(own));
    take_numbers();
    EXPECT_TRUE(says(complaint_of<FileError>([&] { output.write("after", 5); }),
                     "closed its descriptor. It may contain part"));
  }
  expect_others_untouched();
  EXPECT_EQ(read_file(path), "before");
}

TEST_F(ClosedFiles, reads_fail) {
  write_file(path, "weights");
  {
    detail::InputFile input(path);
    take_numbers();
    std::string read(input.nbytes(), ' ');
    EXPECT_TRUE(says(complaint_of<FileError>([&] { input.read(read.data(), read.size()); }),
                     "other code closed its descriptor"));
  }
  expect_others_untouched();
}

/// Expects that the file that was opened last, described by `kind`, does not have the number of a
/// standard stream. Call it in a child whose standard streams are closed.
void expect_no_standard_stream(const char* kind) {
  for (const int number : {0, 1, 2}) {
    EXPECT_LT(::fcntl(number, F_GETFD), 0) << kind << " is descriptor " << number;
  }
  std::printf("a line for standard output");
  std::fflush(stdout);
}

TEST_F(ClosedFiles, files_never_get_the_number_of_a_closed_standard_stream) {
  const fs::path read = folder / "read";
  write_file(read, "weights");
  in_a_child([&] {
    std::array<int, 2> own{};
    EXPECT_EQ(::pipe(own.data()), 0);
    for (const int number : {0, 1, 2}) {
      ::close(number);
    }
    detail::InputFile input(read);
    expect_no_standard_stream("an input file");
    OutputFile written(path);
    expect_no_standard_stream("an output file");
    OutputFile in_place("/proc/self/fd/" + std::to_string(own[1]));
    expect_no_standard_stream("a file written in place");
    std::string text(input.nbytes(), ' ');
    input.read(text.data(), text.size());
    written.write(text.data(), text.size());
    written.commit();
  });
  EXPECT_EQ(read_file(path), "weights");
}

TEST_F(ClosedFiles, no_temporary_file_remains_if_all_descriptors_are_in_use) {
  in_a_child([&] {
    const int free = ::fcntl(0, F_DUPFD, 3);  // the folder gets this number
    ::close(free);
    const auto numbers = static_cast<rlim_t>(free) + 1;
    const rlimit least = {.rlim_cur = numbers, .rlim_max = numbers};
    ::setrlimit(RLIMIT_NOFILE, &least);
    ::close(1);
    EXPECT_THROW(OutputFile{path}, FileError);
  });
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFileTest, text_printed_by_another_thread_never_enters_the_file) {
  printed_into_new_files = "a line of a log";
  save(path, "weights");
  printed_into_new_files = nullptr;
  EXPECT_EQ(read_file(path), "weights");
}

TEST_F(OutputFileTest, fails_in_a_removed_working_directory) {
  const fs::path gone = folder / "gone";
  fs::create_directory(gone);
  in_a_child([&] {
    fs::current_path(gone);
    fs::remove(gone);
    EXPECT_THROW(OutputFile{"weights"}, FileError);
  });
}

TEST_F(OutputFileTest, throws_out_of_memory_if_opening_lacks_memory) {
  write_file(path, "cow");
  Buffer::map_file(path);  // the first call also reads files of the system
  has_no_memory = "open";
  EXPECT_THROW(OutputFile{path}, OutOfMemory);
  has_no_memory = "openat";
  EXPECT_THROW(OutputFile{path}, OutOfMemory);
  has_no_memory = "open";
  EXPECT_THROW(detail::InputFile{path}, OutOfMemory);
  for (const char* function : {"open", "realpath"}) {
    has_no_memory = function;
    EXPECT_THROW(Buffer::map_file(path), OutOfMemory) << function;
  }
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, mapping_a_file_larger_than_memory_throws_out_of_memory) {
  write_file(path, "cow");
  constexpr std::uintmax_t nbytes = std::uintmax_t{1} << 40;  // sparse: three bytes on disk
  std::error_code failure;
  fs::resize_file(path, nbytes, failure);
  if (failure) {
    GTEST_SKIP() << "this file system does not support files of 1 TiB";
  }
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  const rlimit less{nbytes, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &less), 0);
  EXPECT_TRUE(says(complaint_of<OutOfMemory>([&] { Buffer::map_file(path); }), "to map the file"));
  ::setrlimit(RLIMIT_AS, &before);
}

TEST_F(ClosedFiles, commit_finds_the_folder_of_a_relative_name_again) {
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  OutputFile output("file");
  fs::current_path(before);
  expect_commit_after_the_folder_is_closed(output);
}

TEST_F(OutputFileTest, an_interrupted_read_is_repeated) {
  write_file(path, "weights");
  detail::InputFile input(path);
  std::string text(input.nbytes(), ' ');
  is_interrupted = true;
  input.read(text.data(), text.size());
  EXPECT_FALSE(is_interrupted);
  EXPECT_EQ(text, "weights");
}

}  // namespace
}  // namespace byre::test
