// SPDX-License-Identifier: BSL-1.0
/// Makes each allocation of a reshape and of a violation fail in turn. One test runs another thread
/// between two allocations.
#include <byre/error/error.hpp>
#include <byre/shadow/detail/shadow_storage.hpp>

#include <limits>

#include "support/at_once.hpp"
#include "support/failing_new.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

constinit int reported = 0;

void count_only(const Violation&) noexcept {
  ++reported;
}

/// The name of a file that no earlier attempt used, so that the attempt has to store the name.
std::string file_of_attempt(const char* test, int nth) {
  return std::string("a/path/that/fits/in/no/small/string/") + test + std::to_string(nth) + ".cpp";
}

// These functions allocate no memory themselves.
void write_element(Tensor& tensor, CallSite at) {
  tensor.set_at<float>({0}, 7, at);
}
void read_element(const Tensor& tensor, CallSite at) {
  static_cast<void>(tensor.at<float>({0}, at));
}

class TrackedWithoutMemory : public testing::Test {
 protected:
  TrackedWithoutMemory() : previous_(shadow::set_violation_handler(&count_only)) { begin_anew(); }
  ~TrackedWithoutMemory() override { shadow::set_violation_handler(previous_); }

  void begin_anew() {
    reported = 0;
    shadow::reset_summary();
    x = Tensor::zeros({6}, DType::f32);
  }

  Tensor x;

 private:
  const shadow::ViolationHandler previous_;
};

TEST_F(TrackedWithoutMemory, a_violation_is_reported_if_any_allocation_fails) {
  for (const ReshapeMode mode : {ReshapeMode::warn, ReshapeMode::error}) {
    int refused = 0;
    int nth = 0;
    for (bool failed = true; failed; ++nth) {
      begin_anew();
      const std::string file = file_of_attempt(name_of(mode).data(), nth);
      const auto reshape = [&] { return reshaped(x, {6}, mode, site(10, file.c_str())); };
      Tensor y;
      std::uint32_t thrown_at = 0;
      {
        const FailingNew failing(nth);
        try {
          y = reshape();
        } catch (const OutOfMemory&) {
          ++refused;
          y = reshape();
        }
        write_element(y, site(11, file.c_str()));
        try {
          read_element(x, site(12, file.c_str()));
        } catch (const ReshapeViolation& error) {
          thrown_at = error.violation().access.site.line;
        }
        failed = new_failed;
      }
      EXPECT_EQ(thrown_at, mode == ReshapeMode::error ? 12U : 0U) << nth;
      EXPECT_EQ(reported, mode == ReshapeMode::error ? 0 : 1) << nth;
      EXPECT_EQ(shadow::summary().violations, 1U) << nth;
    }
    EXPECT_GE(refused, 4)
        << "expected failures for the tracking state, the shadow storage and two records";
    EXPECT_GT(nth, refused + 2) << "expected allocations by the write and by the report";
  }
}

/// While an object of this class lives, no allocation succeeds.
struct NoMemory {
  NoMemory() { max_nbytes_of_new = 0; }
  ~NoMemory() { max_nbytes_of_new = std::numeric_limits<std::size_t>::max(); }
};

TEST_F(TrackedWithoutMemory, a_write_whose_call_site_cannot_be_stored_is_still_reported) {
  for (const ReshapeMode mode : {ReshapeMode::warn, ReshapeMode::error}) {
    begin_anew();
    const std::string file = file_of_attempt("unknown", static_cast<int>(mode));
    Tensor y = reshaped(x, {6}, mode);
    {
      const NoMemory none;
      write_element(y, site(11, file.c_str()));
    }
    if (mode == ReshapeMode::error) {
      EXPECT_THROW(read_element(x, site(12)), ReshapeViolation);
    } else {
      read_element(x, site(12));
      EXPECT_EQ(reported, 1);
      EXPECT_FALSE(shadow::summary().triples.at(0).write.is_known());
      EXPECT_EQ(shadow::summary().triples.at(0).reshape.site.line, 10U);
    }
  }
}

TEST_F(TrackedWithoutMemory, repeated_violations_are_counted_without_memory) {
  Tensor y = reshaped(x, {6});
  const auto violate = [&] {
    write_element(y, site(11));
    read_element(x, site(12));
  };
  violate();
  {
    const NoMemory none;
    violate();
  }
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(shadow::summary().triples.at(0).count, 2U);
}

TEST_F(TrackedWithoutMemory, an_escape_whose_call_site_cannot_be_stored_is_counted) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  Tensor after = Tensor::zeros({6}, DType::f32);
  const Tensor y = reshaped(after, {6});
  const std::string file = file_of_attempt("escapes", 0);
  {
    const NoMemory none;
    escape(x, site(11, file.c_str()));
    escape(after, site(12, file.c_str()));
  }
  const Tensor z = reshaped(x, {6});
  EXPECT_EQ(shadow::summary().untracked_escapes, 2U);
  EXPECT_EQ(shadow::detail::tracking_state_of(x.storage())->escapes.value(), 1U);
}

TEST_F(TrackedWithoutMemory, two_concurrent_first_reshapes_count_earlier_escapes_once) {
  static const Tensor* shared = nullptr;
  static bool is_first_elsewhere = false;
  // The call site is stored already and its file name is short, so the storage's tracking state is
  // the first allocation.
  static const auto link = [](const Tensor& tensor) {
    return reshaped(tensor, {6}, ReshapeMode::warn, site(10, "a.cpp"));
  };
  static_cast<void>(link(Tensor::zeros({6}, DType::f32)));
  alignas(64) float values[6] = {};
  x.share_external(values, DType::f32, [](void*) {});
  shared = &x;
  before_next_new = [] {
    on_another_thread([] {
      is_first_elsewhere = shadow::detail::tracking_state_of(shared->storage()) == nullptr;
      static_cast<void>(link(*shared));
    });
  };
  const Tensor y = link(x);
  EXPECT_TRUE(is_first_elsewhere);
  EXPECT_EQ(shadow::summary().untracked_escapes, 1U)
      << "expected one escape for all pointers to foreign memory";
  EXPECT_EQ(shadow::detail::tracking_state_of(x.storage())->escapes.value(), 1U);
  x = Tensor();  // x must not outlive `values`
}

}  // namespace
}  // namespace byre::test
