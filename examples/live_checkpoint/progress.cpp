// SPDX-License-Identifier: BSL-1.0
#include "progress.hpp"

#include "failure.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <utility>

namespace examples::live_checkpoint {
namespace {

using std::chrono::duration;

constexpr std::chrono::milliseconds between_redraws{100};
constexpr std::chrono::seconds between_lines{5};

/// Characters of a line that leaves the cursor on it.
std::size_t usable_columns(std::FILE* stream) {
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? static_cast<std::size_t>(size.ws_col) - 1 : 79;
}

}  // namespace

Progress::Progress(std::FILE* stream)
    : stream_(stream), on_terminal_(isatty(fileno(stream)) != 0) {}

void Progress::begin(std::string phase, std::uint64_t total, std::string unit) {
  phase_ = std::move(phase);
  unit_ = std::move(unit);
  total_ = total;
  done_ = 0;
  begun_ = Clock::now();
  next_draw_ = on_terminal_ ? begun_ : begun_ + between_lines;
}

void Progress::advance_to(std::uint64_t done) {
  throw_if_interrupted();
  done_ = done;
  const auto now = Clock::now();
  if (now >= next_draw_) {
    draw(now);
    next_draw_ = on_terminal_ ? now + between_redraws : now + between_lines;
  }
}

void Progress::end() {
  const auto now = Clock::now();
  char text[64];
  std::snprintf(text, sizeof text, "%.1f s", duration<double>(now - begun_).count());
  print_line(phase_ + ": " + std::to_string(done_) + " " + unit_ + ", " + text + ", " + rate(now));
}

void Progress::print_line(const std::string& text) {
  // Return and "erase to the end of the line": the bar makes room.
  std::fprintf(stream_, "%s%s\n", on_terminal_ ? "\r\033[K" : "", text.c_str());
  std::fflush(stream_);
}

void Progress::draw(Clock::time_point now) {
  std::string line = phase_ + "  " + bar() + "  " + rate(now);
  if (!on_terminal_) {
    std::fprintf(stream_, "%s\n", line.c_str());
  } else {
    line.resize(std::min(line.size(), usable_columns(stream_)));
    std::fprintf(stream_, "\r%s\033[K", line.c_str());
  }
  std::fflush(stream_);
}

std::string Progress::bar() const {
  if (total_ == 0) {
    return std::to_string(done_) + " " + unit_;
  }
  const double part = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f%%", std::floor(part * 100));
  if (!on_terminal_) {
    return percent;
  }
  constexpr std::size_t width = 24;
  const auto filled = static_cast<std::size_t>(part * width);
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] " + percent;
}

std::string Progress::rate(Clock::time_point now) const {
  const double seconds = std::max(1e-9, duration<double>(now - begun_).count());
  return std::to_string(std::llround(static_cast<double>(done_) / seconds)) + " " + unit_ + "/s";
}

}  // namespace examples::live_checkpoint
