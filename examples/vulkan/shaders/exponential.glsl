// SPDX-License-Identifier: BSL-1.0
// The function exp. The guaranteed accuracy of GLSL's exp is too low for f32, and GLSL has no exp
// for f64. x is split into k ln 2 + r, and a polynomial approximates exp(r).

float exponential(float x) {
  if (!(x >= -104.0)) {
    return x < -104.0 ? 0.0 : x;  // returns x if x is NaN
  }
  if (x > 89.0) {
    return uintBitsToFloat(0x7F800000u);
  }
  const float k = roundEven(x * 1.44269504);
  precise float r = x - k * 0.693359375;
  r = r - k * -2.12194440e-4;
  const float terms[] = {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                         4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1};
  precise float sum = terms[0];
  for (int i = 1; i < terms.length(); ++i) {
    sum = sum * r + terms[i];
  }
  sum = sum * (r * r) + r;
  sum = sum + 1.0;
  // Multiplies twice, because 2^k may be out of range of the type.
  const int first = int(k) / 2;
  const int second = int(k) - first;
  return sum * uintBitsToFloat(uint(first + 127) << 23) * uintBitsToFloat(uint(second + 127) << 23);
}

#if DOMAIN == 2
double power_of_two(int k) {
  return packDouble2x32(uvec2(0u, uint(k + 1023) << 20));
}

double exponential(double x) {
  if (!(x >= -746.0LF)) {
    return x < -746.0LF ? 0.0LF : x;
  }
  if (x > 710.0LF) {
    return packDouble2x32(uvec2(0u, 0x7FF00000u));
  }
  const double k = roundEven(x * 1.4426950408889634074LF);
  precise double r = x - k * 6.93147180369123816490e-01LF;
  r = r - k * 1.90821492927058770002e-10LF;
  precise double sum = 0.0LF;
  double factorial = 6227020800.0LF;  // 13!
  for (int n = 13; n >= 2; --n) {
    sum = sum * r + 1.0LF / factorial;
    factorial = factorial / double(n);
  }
  sum = sum * (r * r) + r;
  sum = sum + 1.0LF;
  const int first = int(k) / 2;
  const int second = int(k) - first;
  return sum * power_of_two(first) * power_of_two(second);
}
#elif DOMAIN == 3
vec2 exponential(vec2 x) {
  const float length = exponential(x.x);
  return x.y == 0.0 ? vec2(length, x.y) : length * vec2(cos(x.y), sin(x.y));
}
#endif
