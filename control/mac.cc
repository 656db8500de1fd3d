#include "control/mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <cerrno>
#include <string>

#include "base/check.h"

namespace spindrift::control {

Digest mac(std::string_view key, std::string_view domain, std::string_view data) {
  std::string input;
  input.reserve(domain.size() + 1 + data.size());
  input.append(domain).push_back('\0');  // no domain contains it
  input.append(data);
  Digest digest{};
  unsigned length = 0;
  // OpenSSL takes an empty key only with a pointer.
  const char* key_bytes = key.empty() ? "" : key.data();
  const unsigned char* made = HMAC(EVP_sha256(), key_bytes, static_cast<int>(key.size()),
                                   reinterpret_cast<const unsigned char*>(input.data()),
                                   input.size(), digest.data(), &length);
  // Fails only without memory or with a library that lost SHA-256; to go on
  // with a digest of zeros would let anybody in.
  SPINDRIFT_CHECK(made != nullptr && length == digest.size());
  return digest;
}

bool equal(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

KeyId key_id_of(std::string_view key) {
  const Digest digest = mac(key, "spindrift key id 1", {});
  KeyId id = 0;
  for (int i = 0; i < 8; ++i) id = id << 8 | digest[static_cast<std::size_t>(i)];
  return id == 0 ? 1 : id;
}

Status fill_random(std::span<std::uint8_t> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::getrandom(out.data() + done, out.size() - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Status(
          Code::kIoError,
          {.what = "getrandom", .why = "no random bytes from the kernel", .os_error = errno});
    }
    done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace spindrift::control
