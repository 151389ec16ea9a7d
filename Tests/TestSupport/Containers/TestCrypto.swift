#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CCrypto
#endif

/// The primitives that encrypted backups are made with, the other way round from how strata uses them.
public enum TestCrypto {
  /// PBKDF2 with HMAC of SHA-1 or SHA-256: 32 bytes.
  public static func derived(
    _ password: [UInt8], isSHA256: Bool, salt: [UInt8], rounds: Int
  ) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: 32)
    let characters = password.map { CChar(bitPattern: $0) }
    #if canImport(CommonCrypto)
      let prf = isSHA256 ? kCCPRFHmacAlgSHA256 : kCCPRFHmacAlgSHA1
      _ = CCKeyDerivationPBKDF(
        CCPBKDFAlgorithm(kCCPBKDF2), characters, characters.count, salt, salt.count,
        CCPseudoRandomAlgorithm(prf), UInt32(rounds), &key, key.count)
    #else
      _ = PKCS5_PBKDF2_HMAC(
        characters, Int32(characters.count), salt, Int32(salt.count), Int32(rounds),
        isSHA256 ? EVP_sha256() : EVP_sha1(), Int32(key.count), &key)
    #endif
    return key
  }

  /// RFC 3394: a key of 32 bytes wrapped with another.
  public static func wrapped(_ key: [UInt8], with kek: [UInt8]) -> [UInt8] {
    var wrapped = [UInt8](repeating: 0, count: key.count + 16)
    #if canImport(CommonCrypto)
      var count = wrapped.count
      _ = CCSymmetricKeyWrap(
        CCWrappingAlgorithm(kCCWRAPAES), CCrfc3394_iv, CCrfc3394_ivLen, kek, kek.count, key,
        key.count, &wrapped, &count)
    #else
      let context = EVP_CIPHER_CTX_new()
      defer { EVP_CIPHER_CTX_free(context) }
      EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
      var count: Int32 = 0
      _ = EVP_EncryptInit_ex(context, EVP_aes_256_wrap(), nil, kek, nil)
      _ = EVP_EncryptUpdate(context, &wrapped, &count, key, Int32(key.count))
    #endif
    return Array(wrapped.prefix(Int(count)))
  }

  /// AES-256-CBC with a vector of zeros.
  ///
  /// - Parameter isPadded: whether the last block is filled up, as iOS does.
  public static func encrypted(
    _ plain: [UInt8], with key: [UInt8], isPadded: Bool = true
  ) -> [UInt8] {
    let vector = [UInt8](repeating: 0, count: 16)
    var bytes = [UInt8](repeating: 0, count: plain.count + 32)
    #if canImport(CommonCrypto)
      var count = 0
      _ = CCCrypt(
        CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES),
        isPadded ? CCOptions(kCCOptionPKCS7Padding) : 0, key, key.count, vector, plain, plain.count,
        &bytes, bytes.count, &count)
      return Array(bytes.prefix(count))
    #else
      let context = EVP_CIPHER_CTX_new()
      defer { EVP_CIPHER_CTX_free(context) }
      var (count, last): (Int32, Int32) = (0, 0)
      _ = EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), nil, key, vector)
      _ = EVP_CIPHER_CTX_set_padding(context, isPadded ? 1 : 0)
      _ = EVP_EncryptUpdate(context, &bytes, &count, plain, Int32(plain.count))
      var end = [UInt8](repeating: 0, count: 32)
      _ = EVP_EncryptFinal_ex(context, &end, &last)
      return Array(bytes.prefix(Int(count)) + end.prefix(Int(last)))
    #endif
  }
}
