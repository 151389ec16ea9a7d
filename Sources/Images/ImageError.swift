/// Why bytes could not be shown as a picture.
package enum ImageError: Error, Sendable, Equatable {
  /// Neither PNG nor JPEG.
  case unknownFormat
  /// The library that reads this kind of picture is not installed.
  case notInstalled(String)
  /// More pixels than are worth their memory.
  case tooLarge(width: Int, height: Int)
  /// What the decoder found wrong.
  case damaged(String)
}

extension ImageError: CustomStringConvertible {
  /// What is shown in the picture's place, as a clause.
  package var description: String {
    switch self {
    case .unknownFormat: "this kind of picture is not decoded"
    case .notInstalled(let library): "pictures of this kind are shown where \(library) is installed"
    case .tooLarge(let width, let height): "the picture is too large to decode: \(width)×\(height)"
    case .damaged(let message): "the picture cannot be decoded: \(message)"
    }
  }
}
