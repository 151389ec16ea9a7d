import CZlib
import ManagedModel

/// Packed bytes that come a piece at a time, unpacked a piece at a time.
package final class Inflation {
  /// How the packed bytes are wrapped.
  package enum Wrapping {
    /// Not at all, as in a ZIP.
    case raw
    case gzip
  }

  /// zlib keeps the address of its state, so that it must not move; freed in `deinit`.
  private let stream: UnsafeMutablePointer<z_stream>
  private var chunk: [UInt8]
  private let wrapping: Wrapping
  /// Whether the packed bytes have come to their end.
  package private(set) var isFinished = false
  /// How many of the packed bytes were needed: up to the end, where it was reached.
  package var consumed: Int { Int(clamping: stream.pointee.total_in) }

  package init(_ wrapping: Wrapping, chunk: Int = 1 << 17) throws {
    self.wrapping = wrapping
    self.chunk = [UInt8](repeating: 0, count: chunk)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let result =
      wrapping == .raw ? strata_inflate_init_raw(stream) : strata_inflate_init_gzip(stream)
    guard result == Z_OK else { throw CoreDataError(.unreadable, "zlib did not start") }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Unpacks what is in a piece; what follows the end is left.
  ///
  /// - Returns: false where the bytes are damaged.
  package func read(_ packed: [UInt8], _ output: (ArraySlice<UInt8>) throws -> Void) throws -> Bool
  {
    var packed = packed
    return try packed.withUnsafeMutableBufferPointer { input -> Bool in
      stream.pointee.next_in = input.baseAddress
      stream.pointee.avail_in = UInt32(clamping: input.count)
      while true {
        if isFinished {
          // Several packed parts may follow one another, and zeros fill up the last.
          guard wrapping == .gzip, stream.pointee.avail_in > 0,
            stream.pointee.next_in?.pointee == 0x1F
          else { return true }
          inflateReset(stream)
          isFinished = false
        }
        let size = chunk.count
        let (result, produced) = chunk.withUnsafeMutableBufferPointer { part -> (Int32, Int) in
          stream.pointee.next_out = part.baseAddress
          stream.pointee.avail_out = UInt32(size)
          let result = inflate(stream, Z_NO_FLUSH)
          return (result, size - Int(stream.pointee.avail_out))
        }
        if produced > 0 { try output(chunk[..<produced]) }
        switch result {
        case Z_STREAM_END: isFinished = true
        case Z_OK: if stream.pointee.avail_in == 0, produced < size { return true }
        // Nothing more can be had of this piece.
        case Z_BUF_ERROR: return true
        default: return false
        }
      }
    }
  }
}
