import CZlib
import ManagedModel

/// The content of Z_MODELCACHE: a keyed archive compressed as raw DEFLATE, without a zlib header.
package enum ModelCache {
  /// Most bytes a cache may inflate to; the largest real one seen is below 2 MB.
  package static let limit = 64 << 20

  private struct TooLarge: Error {}

  /// - Throws: ``CoreDataError`` when the bytes do not inflate, or inflate to more than `limit`.
  package static func inflate(_ bytes: [UInt8], limit: Int = limit) throws -> [UInt8] {
    let inflation = try Inflation(.raw, chunk: 1 << 16)
    var output: [UInt8] = []
    let isSound = try? inflation.read(bytes) { part in
      output += part
      if output.count > limit { throw TooLarge() }
    }
    guard isSound == true, inflation.isFinished else {
      throw CoreDataError(
        .unreadable, "the model cache (Z_MODELCACHE) does not inflate",
        advice:
          "The store is damaged, or the cache is of an unknown form: give the model with \(.model)."
      )
    }
    return output
  }

  /// Packs a model's archive as Z_MODELCACHE holds it: raw deflate, without a header of zlib's.
  package static func deflate(_ bytes: [UInt8]) throws -> [UInt8] {
    var stream = z_stream()
    guard strata_deflate_init_raw(&stream) == Z_OK else {
      throw CoreDataError(.failed, "zlib did not start")
    }
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
    let size = output.count
    let result = input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(clamping: source.count)
        stream.next_out = target.baseAddress
        stream.avail_out = UInt32(clamping: size)
        return CZlib.deflate(&stream, Z_FINISH)
      }
    }
    guard result == Z_STREAM_END else {
      throw CoreDataError(.failed, "the model cache could not be compressed")
    }
    output.removeLast(Int(stream.avail_out))
    return output
  }
}
