// The cryptography of the control plane, all of it: HMAC-SHA256 with a domain
// in front, so that a proof made for one purpose never serves another, key ids,
// and random bytes. OpenSSL inside. Pure but for fill_random(); thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "control/messages.h"
#include "spindrift/status.h"

namespace spindrift::control {

Digest mac(std::string_view key, std::string_view domain, std::string_view data);

// In a time that does not tell where they differ.
bool equal(const Digest& a, const Digest& b);

// Which key a proof was made with, without telling the key: 64 bits of a hash.
// Never 0, which stands for "no key".
KeyId key_id_of(std::string_view key);

// From the kernel; kIoError when it has none.
Status fill_random(std::span<std::uint8_t> out);

inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace spindrift::control
