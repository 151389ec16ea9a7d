import Terminal

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Pictures out of bytes that nobody has looked at: any bytes at all end in a raster or an error.
package enum ImageDecoder {
  /// Most pixels of a picture that is decoded: 64 million, which takes 256 MB for a moment.
  package static let pixelLimit = 64 << 20
  /// Most bytes of a picture that is decoded.
  package static let byteLimit = 256 << 20

  /// Decodes a PNG or a JPEG, no larger than fits so many pixels, its shape kept.
  package static func decode(_ bytes: [UInt8], fitting limit: Size) throws(ImageError) -> Raster {
    guard bytes.count <= byteLimit else { throw .damaged("\(bytes.count) bytes") }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
      return try PNGImage.decode(bytes, fitting: limit)
    }
    if bytes.starts(with: [0xFF, 0xD8]) { return try JPEGImage.decode(bytes, fitting: limit) }
    throw .unknownFormat
  }

  static func check(width: Int, height: Int) throws(ImageError) {
    guard width > 0, height > 0 else { throw .damaged("it has no pixels") }
    let (pixels, isTooMany) = width.multipliedReportingOverflow(by: height)
    guard !isTooMany, pixels <= pixelLimit else { throw .tooLarge(width: width, height: height) }
  }
}

extension Raster {
  /// Pixels made smaller by the mean of each box; of a large box, of up to 256 pixels in it.
  static func scaled(
    _ pixels: [UInt8], width: Int, height: Int, to size: Size
  ) throws(ImageError) -> Raster {
    guard pixels.count == width * height * 4, size.width > 0, size.height > 0 else {
      throw .damaged("it has no pixels")
    }
    if size.width == width, size.height == height,
      let raster = Raster(width: width, height: height, pixels: pixels)
    {
      return raster
    }
    var result = [UInt8](repeating: 0, count: size.width * size.height * 4)
    pixels.withUnsafeBufferPointer { source in
      for y in 0..<size.height {
        let top = y * height / size.height
        let bottom = max(top + 1, (y + 1) * height / size.height)
        for x in 0..<size.width {
          let left = x * width / size.width
          let right = max(left + 1, (x + 1) * width / size.width)
          // What is transparent has no say in the colour.
          var (red, green, blue, alpha, count) = (0, 0, 0, 0, 0)
          for row in stride(from: top, to: bottom, by: max(1, (bottom - top) / 16)) {
            for column in stride(from: left, to: right, by: max(1, (right - left) / 16)) {
              let index = (row * width + column) * 4
              let weight = Int(source[index + 3])
              red += Int(source[index]) * weight
              green += Int(source[index + 1]) * weight
              blue += Int(source[index + 2]) * weight
              alpha += weight
              count += 1
            }
          }
          let index = (y * size.width + x) * 4
          if alpha > 0 {
            result[index] = UInt8(red / alpha)
            result[index + 1] = UInt8(green / alpha)
            result[index + 2] = UInt8(blue / alpha)
          }
          result[index + 3] = UInt8(alpha / max(1, count))
        }
      }
    }
    guard let raster = Raster(width: size.width, height: size.height, pixels: result) else {
      throw .damaged("it has no pixels")
    }
    return raster
  }
}

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

/// A library of the system that is opened when it is needed, and may not be there.
struct SharedLibrary: @unchecked Sendable {
  // Never closed: what was found in it stays valid.
  private let handle: UnsafeMutableRawPointer

  /// Opens the first of these that is there; `nil` where none is.
  init?(_ names: [String]) {
    for name in names {
      if let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) {
        self.handle = handle
        return
      }
    }
    return nil
  }

  /// A function by its name, as the @convention(c) type that its header gives it; `nil` where there
  /// is none.
  func function<Function>(_ name: String) -> Function? {
    // An address is all that a value of such a type holds.
    dlsym(handle, name).map { unsafeBitCast($0, to: Function.self) }
  }
}
