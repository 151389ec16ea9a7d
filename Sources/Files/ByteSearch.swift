/// The search for a run of bytes, by the C library: it is asked of everything that is printed, and of
/// every file of source.
package enum ByteSearch {
  /// Where a pattern first stands, from a place on; `nil` where it does not, or is empty.
  package static func place(
    of pattern: [UInt8], in bytes: [UInt8], from start: Int = 0
  ) -> Int? {
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, let first = pattern.first else { return nil }
      var place = start
      while place + pattern.count <= buffer.count,
        let found = memchr(base + place, Int32(first), buffer.count - place)
      {
        place = UnsafeRawPointer(found) - base
        guard place + pattern.count <= buffer.count else { return nil }
        if memcmp(found, pattern, pattern.count) == 0 { return place }
        place += 1
      }
      return nil
    }
  }
}
