/// Why bytes could not be shown as a picture.
package enum ImageError: Error, Sendable, Equatable {
  /// Neither PNG nor JPEG.
  case unknownFormat
  /// More pixels than are worth their memory.
  case tooLarge(width: Int, height: Int)
  /// What the decoder found wrong.
  case damaged(String)
}

extension ImageError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownFormat: "this kind of picture is not decoded"
    case .tooLarge(let width, let height): "the picture is too large to decode: \(width)×\(height)"
    case .damaged(let message): "the picture cannot be decoded: \(message)"
    }
  }
}
