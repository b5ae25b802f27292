// SPDX-License-Identifier: BSL-1.0
#include "frames.hpp"

#include "failure.hpp"
#include "format.hpp"
#include "simulation.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <byre/files/output_file.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace examples::diffusion {
namespace {

struct Colour {
  std::uint8_t red, green, blue;
};

/// From 0 to 1 through five colours: dark blue, blue, green, yellow, white.
Colour colour_of(float value) {
  static constexpr std::array<std::array<float, 3>, 5> stops = {
      {{12, 12, 48}, {24, 80, 160}, {40, 168, 128}, {240, 208, 64}, {255, 255, 240}}};
  const float place = std::clamp(std::isnan(value) ? 0.0F : value, 0.0F, 1.0F) * 4;
  const std::size_t stop = std::min<std::size_t>(3, static_cast<std::size_t>(place));
  const float share = place - static_cast<float>(stop);
  const auto between = [&](std::size_t channel) {
    const float from = stops[stop][channel];
    return static_cast<std::uint8_t>(std::lround(from + share * (stops[stop + 1][channel] - from)));
  };
  return {between(0), between(1), between(2)};
}

/// The most of v that the colours tell apart.
constexpr float most_v = 0.4F;

std::vector<Colour> picture_of(const byre::Tensor& grid) {
  const byre::Tensor v = field_of(grid, 1).contiguous();
  std::vector<Colour> picture(static_cast<std::size_t>(v.numel()));
  const float* const values = v.data<float>();
  std::transform(values, values + picture.size(), picture.begin(),
                 [](float value) { return colour_of(value / most_v); });
  return picture;
}

std::vector<std::byte> png_of(const std::vector<Colour>& picture, std::size_t size) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(size);
  image.height = image.width;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t nbytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> png(nbytes);
  if (png_image_write_to_memory(&image, png.data(), &nbytes, 0, picture.data(), 0, nullptr) == 0) {
    throw Failure(std::string("libpng cannot write the picture: ") + image.message + ".");
  }
  png.resize(nbytes);
  return png;
}

}  // namespace

Frames::Frames(std::filesystem::path directory, std::size_t every)
    : directory_(std::move(directory)), every_(every) {
  if (!are_wanted()) {
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    throw Failure("Cannot make the directory for frames, '" + directory_.string() +
                  "': " + error.message() + ".");
  }
  try {
    byre::OutputFile tried(directory_ / "frame-000000.png");
  } catch (const byre::FileError& refused) {
    throw Failure("Cannot write to the directory for frames, '" + directory_.string() +
                  "': " + refused.what());
  }
}

void Frames::write(std::size_t step, const byre::Tensor& grid) {
  const auto size = static_cast<std::size_t>(grid.sizes()[1] - 2);
  const std::vector<std::byte> png = png_of(picture_of(grid), size);
  byre::OutputFile file(directory_ / format("frame-%06zu.png", step));
  file.write(png.data(), png.size());
  file.commit();
  ++count_;
}

}  // namespace examples::diffusion
