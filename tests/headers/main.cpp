// SPDX-License-Identifier: BSL-1.0
// That this links is the test.
int main() {}
