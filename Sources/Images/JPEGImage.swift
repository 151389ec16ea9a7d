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
