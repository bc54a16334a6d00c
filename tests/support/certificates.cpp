#include "tests/support/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>

namespace smd::test {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

constexpr long kDay = 24 * 60 * 60;

void must(bool fine) {
  if (!fine) std::abort();
}

Key make_key() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

/// Signed by `issuer_key`; by itself where there is no issuer.
Certificate make_certificate(
    const std::string& name, EVP_PKEY* key, const X509* issuer, EVP_PKEY* issuer_key, long days) {
  Certificate made(X509_new(), &X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  static long serial = 0;
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -90 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), days * kDay);
  X509_set_pubkey(made.get(), key);
  X509_NAME* subject = X509_get_subject_name(made.get());
  must(X509_NAME_add_entry_by_txt(subject,
                                  "CN",
                                  MBSTRING_UTF8,
                                  reinterpret_cast<const unsigned char*>(name.c_str()),
                                  -1,
                                  -1,
                                  0) == 1);
  X509_set_issuer_name(made.get(), issuer != nullptr ? X509_get_subject_name(issuer) : subject);
  if (issuer == nullptr) {
    X509_EXTENSION* ca =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    must(X509_add_ext(made.get(), ca, -1) == 1);
    X509_EXTENSION_free(ca);
  }
  must(X509_sign(made.get(), issuer_key, EVP_sha256()) > 0);
  return made;
}

template <class Write>
void write_file(const std::filesystem::path& file, Write write) {
  std::FILE* out = std::fopen(file.c_str(), "w");
  must(out != nullptr && write(out) == 1);
  std::fclose(out);
}

}  // namespace

struct Authority::Parts {
  Key key = make_key();
  Certificate certificate{nullptr, &X509_free};
};

Authority::Authority(const std::string& name) : parts_(std::make_unique<Parts>()) {
  parts_->certificate = make_certificate(name, parts_->key.get(), nullptr, parts_->key.get(), 365);
}

Authority::~Authority() = default;

void Authority::write_certificate(const std::filesystem::path& file) const {
  write_file(file,
             [this](std::FILE* out) { return PEM_write_X509(out, parts_->certificate.get()); });
}

void Authority::issue(const std::string& name,
                      const std::filesystem::path& certificate,
                      const std::filesystem::path& key,
                      int days) const {
  const Key fresh = make_key();
  const Certificate made =
      make_certificate(name, fresh.get(), parts_->certificate.get(), parts_->key.get(), days);
  write_file(certificate, [&](std::FILE* out) { return PEM_write_X509(out, made.get()); });
  write_file(key, [&](std::FILE* out) {
    return PEM_write_PrivateKey(out, fresh.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace smd::test
