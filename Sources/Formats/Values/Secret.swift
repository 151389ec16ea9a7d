#if canImport(CommonCrypto)
  import CommonCrypto
  import Darwin
#else
  import CCrypto
  import Glibc
#endif

/// A password or a key: bytes at one place in memory, which are overwritten when it is let go.
///
/// An array would leave copies behind wherever it grew.
package final class Secret: Sendable, Equatable {
  // Written only while it is made and when it goes away; in between it is read.
  nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer
  /// How many bytes it has.
  package let count: Int

  /// A secret of as many bytes as `fill` says it wrote.
  ///
  /// - Parameter capacity: how many bytes `fill` may write.
  package init(
    capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Int
  ) rethrows {
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(1, capacity), alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    do {
      count = min(max(0, try fill(memory)), capacity)
    } catch {
      Self.cleanse(memory)
      memory.deallocate()
      throw error
    }
    self.memory = memory
  }

  /// A secret of bytes that are known elsewhere too.
  package convenience init(_ bytes: [UInt8]) {
    self.init(capacity: bytes.count) { memory in
      memory.copyBytes(from: bytes)
      return bytes.count
    }
  }

  deinit {
    Self.cleanse(memory)
    memory.deallocate()
  }

  /// Gives its bytes, which must not be kept.
  package func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
  }

  /// Whether both are the same bytes.
  package static func == (one: Secret, other: Secret) -> Bool {
    one.withBytes { own in other.withBytes { own.elementsEqual($0) } }
  }

  /// Overwrites memory in a way that the compiler does not leave out.
  package static func cleanse(_ memory: UnsafeMutableRawBufferPointer) {
    #if canImport(CommonCrypto)
      _ = memset_s(memory.baseAddress, memory.count, 0, memory.count)
    #else
      OPENSSL_cleanse(memory.baseAddress, memory.count)
    #endif
  }

  /// Has this process leave no core file: one would hold its keys.
  package static func forbidCoreDumps() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    #if canImport(Darwin)
      _ = setrlimit(RLIMIT_CORE, &limit)
    #else
      _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
      // A program that the kernel hands core files to is not kept from them by the limit.
      _ = strata_forbid_core_dumps()
    #endif
  }
}
