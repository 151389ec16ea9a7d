import CPictures
import Terminal

/// JPEG through TurboJPEG, which reads from memory and returns instead of jumping.
enum JPEGImage {
  static func decode(_ bytes: [UInt8], fitting limit: Size) throws(ImageError) -> Raster {
    guard let jpeg = TurboJPEGLibrary.installed else { throw .notInstalled("libturbojpeg") }
    guard let handle = jpeg.start() else { throw .damaged("TurboJPEG did not start") }
    defer { _ = jpeg.destroy(handle) }
    func message() -> String { jpeg.errorText(handle).map { String(cString: $0) } ?? "unknown" }
    var (width, height, sampling, space): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard
      jpeg.header(
        handle, bytes, UInt(bytes.count), &width, &height, &sampling, &space) == 0
    else { throw .damaged(message()) }
    try ImageDecoder.check(width: Int(width), height: Int(height))
    let orientation = EXIFOrientation(bytes)
    let wanted = orientation.turned(
      Raster.size(
        of: orientation.isTurned ? Int(height) : Int(width),
        orientation.isTurned ? Int(width) : Int(height), fitting: limit))
    let size = decoded(width, height, atLeast: wanted, by: jpeg)
    let isCMYK = TurboJPEGLibrary.cmykSpaces.contains(space)
    var pixels = [UInt8](repeating: 0, count: Int(size.width) * Int(size.height) * 4)
    let format = isCMYK ? TurboJPEGLibrary.cmyk : TurboJPEGLibrary.rgba
    // A picture that ends too early is a warning: what is there can be shown.
    if jpeg.decompress(
      handle, bytes, UInt(bytes.count), &pixels, size.width, 0, size.height, format,
      TurboJPEGLibrary.limitScans) != 0, jpeg.errorCode(handle) != TurboJPEGLibrary.warning
    {
      throw .damaged(message())
    }
    if isCMYK { convertFromCMYK(&pixels) }
    let raster = try Raster.scaled(
      pixels, width: Int(size.width), height: Int(size.height), to: wanted)
    return orientation.upright(raster)
  }

  /// The smallest size TurboJPEG can decode to that is not below the one wanted.
  private static func decoded(
    _ width: Int32, _ height: Int32, atLeast wanted: Size, by jpeg: TurboJPEGLibrary
  ) -> (width: Int32, height: Int32) {
    var best = (width: width, height: height)
    var count: Int32 = 0
    guard let factors = jpeg.factors(&count) else { return best }
    for index in 0..<Int(count) {
      let factor = factors[index]
      guard factor.denom > 0 else { continue }
      func scaled(_ size: Int32) -> Int32 { (size * factor.num + factor.denom - 1) / factor.denom }
      let size = (width: scaled(width), height: scaled(height))
      if size.width >= wanted.width, size.height >= wanted.height, size.width < best.width {
        best = size
      }
    }
    return best
  }

  /// Adobe's CMYK is inverted: 255 is no ink.
  private static func convertFromCMYK(_ pixels: inout [UInt8]) {
    for index in stride(from: 0, to: pixels.count - 3, by: 4) {
      let black = Int(pixels[index + 3])
      for channel in 0..<3 {
        pixels[index + channel] = UInt8(Int(pixels[index + channel]) * black / 255)
      }
      pixels[index + 3] = 255
    }
  }
}

/// What is called of TurboJPEG, whose calls return instead of jumping.
struct TurboJPEGLibrary: Sendable {
  typealias Handle = UnsafeMutableRawPointer
  typealias Start = @convention(c) () -> Handle?
  typealias Destroy = @convention(c) (Handle) -> Int32
  typealias Header =
    @convention(c) (
      Handle, UnsafePointer<UInt8>, UInt, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>,
      UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>
    ) -> Int32
  typealias Decompress =
    @convention(c) (
      Handle, UnsafePointer<UInt8>, UInt, UnsafeMutablePointer<UInt8>, Int32, Int32, Int32, Int32,
      Int32
    ) -> Int32
  typealias Factors =
    @convention(c) (UnsafeMutablePointer<Int32>) -> UnsafePointer<
      strata_tj_factor
    >?
  typealias ErrorCode = @convention(c) (Handle) -> Int32
  typealias ErrorText = @convention(c) (Handle) -> UnsafePointer<CChar>?

  /// tjInitDecompress
  let start: Start
  /// tjDestroy
  let destroy: Destroy
  /// tjDecompressHeader3
  let header: Header
  /// tjDecompress2
  let decompress: Decompress
  /// tjGetScalingFactors
  let factors: Factors
  /// tjGetErrorCode
  let errorCode: ErrorCode
  /// tjGetErrorStr2
  let errorText: ErrorText

  /// TJPF_RGBA
  static let rgba: Int32 = 7
  /// TJPF_CMYK
  static let cmyk: Int32 = 11
  /// TJCS_CMYK and TJCS_YCCK
  static let cmykSpaces: Set<Int32> = [3, 4]
  /// TJFLAG_LIMITSCANS
  static let limitScans: Int32 = 32768
  /// TJERR_WARNING
  static let warning: Int32 = 0

  /// By the name that programs link, and by that which comes with its headers.
  static let library = SharedLibrary([
    "libturbojpeg.so.0", "libturbojpeg.so", "libturbojpeg.0.dylib",
    "/opt/homebrew/lib/libturbojpeg.0.dylib",
  ])

  /// `nil` where the library is not installed.
  static let installed = TurboJPEGLibrary()

  private init?() {
    guard let library = Self.library,
      let start: Start = library.function("tjInitDecompress"),
      let destroy: Destroy = library.function("tjDestroy"),
      let header: Header = library.function("tjDecompressHeader3"),
      let decompress: Decompress = library.function("tjDecompress2"),
      let factors: Factors = library.function("tjGetScalingFactors"),
      let errorCode: ErrorCode = library.function("tjGetErrorCode"),
      let errorText: ErrorText = library.function("tjGetErrorStr2")
    else { return nil }
    (self.start, self.destroy, self.header) = (start, destroy, header)
    (self.decompress, self.factors) = (decompress, factors)
    (self.errorCode, self.errorText) = (errorCode, errorText)
  }
}

/// How a camera was held: TIFF's tag 274, 1 to 8, in a JPEG's EXIF segment.
struct EXIFOrientation: Equatable {
  let number: Int

  /// The first EXIF segment's orientation; 1, upright, if there is none.
  init(_ bytes: [UInt8]) {
    number = Self.orientation(bytes).flatMap { (1...8).contains($0) ? $0 : nil } ?? 1
  }

  /// Whether width and height change places.
  var isTurned: Bool { number > 4 }

  func turned(_ size: Size) -> Size {
    isTurned ? Size(width: size.height, height: size.width) : size
  }

  private static func orientation(_ bytes: [UInt8]) -> Int? {
    var offset = 2
    // Segments before the picture: a marker and a length that counts itself.
    while offset + 4 <= bytes.count, bytes[offset] == 0xFF, bytes[offset + 1] != 0xDA {
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      guard length >= 2, offset + 2 + length <= bytes.count else { return nil }
      let content = bytes[(offset + 4)..<(offset + 2 + length)]
      if bytes[offset + 1] == 0xE1, content.starts(with: Array("Exif\0\0".utf8)) {
        return tag(Array(content.dropFirst(6)))
      }
      offset += 2 + length
    }
    return nil
  }

  /// The orientation in a TIFF directory.
  private static func tag(_ tiff: [UInt8]) -> Int? {
    let isLittle = tiff.starts(with: [0x49, 0x49])
    guard isLittle || tiff.starts(with: [0x4D, 0x4D]) else { return nil }
    func number(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset + count <= tiff.count else { return nil }
      let part = tiff[offset..<(offset + count)]
      return (isLittle ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(4, 4), let count = number(directory, 2) else { return nil }
    for entry in 0..<min(count, 200) {
      let place = directory + 2 + entry * 12
      if number(place, 2) == 274 { return number(place + 8, 2) }
    }
    return nil
  }

  /// The picture as it was seen.
  func upright(_ raster: Raster) -> Raster {
    guard number > 1 else { return raster }
    let (width, height) = (raster.width, raster.height)
    let size = turned(Size(width: width, height: height))
    var pixels = [UInt8](repeating: 0, count: raster.pixels.count)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let (fromX, fromY): (Int, Int) =
          switch number {
          case 2: (width - 1 - x, y)
          case 3: (width - 1 - x, height - 1 - y)
          case 4: (x, height - 1 - y)
          case 5: (y, x)
          case 6: (y, height - 1 - x)
          case 7: (width - 1 - y, height - 1 - x)
          default: (width - 1 - y, x)
          }
        let (from, to) = ((fromY * width + fromX) * 4, (y * size.width + x) * 4)
        for channel in 0..<4 { pixels[to + channel] = raster.pixels[from + channel] }
      }
    }
    return Raster(width: size.width, height: size.height, pixels: pixels) ?? raster
  }
}
