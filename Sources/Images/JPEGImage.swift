import CTurboJPEG
import Terminal

/// JPEG through TurboJPEG, which reads from memory and returns instead of jumping.
enum JPEGImage {
  static func decode(_ bytes: [UInt8], fitting limit: Size) throws(ImageError) -> Raster {
    guard let handle = tjInitDecompress() else { throw .damaged("TurboJPEG did not start") }
    defer { tjDestroy(handle) }
    var (width, height, sampling, space): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard
      tjDecompressHeader3(
        handle, bytes, UInt(bytes.count), &width, &height, &sampling, &space) == 0
    else { throw .damaged(message(handle)) }
    try ImageDecoder.check(width: Int(width), height: Int(height))
    let orientation = EXIFOrientation(bytes)
    let wanted = orientation.turned(
      Raster.size(
        of: orientation.isTurned ? Int(height) : Int(width),
        orientation.isTurned ? Int(width) : Int(height), fitting: limit))
    let size = decoded(width, height, atLeast: wanted)
    let isCMYK = space == TJCS_CMYK.rawValue || space == TJCS_YCCK.rawValue
    var pixels = [UInt8](repeating: 0, count: Int(size.width) * Int(size.height) * 4)
    let format = isCMYK ? TJPF_CMYK : TJPF_RGBA
    // A picture that ends too early is a warning: what is there can be shown.
    if tjDecompress2(
      handle, bytes, UInt(bytes.count), &pixels, size.width, 0, size.height, format.rawValue,
      TJFLAG_LIMITSCANS) != 0, tjGetErrorCode(handle) != TJERR_WARNING.rawValue
    {
      throw .damaged(message(handle))
    }
    if isCMYK { convertFromCMYK(&pixels) }
    let raster = try Raster.scaled(
      pixels, width: Int(size.width), height: Int(size.height), to: wanted)
    return orientation.upright(raster)
  }

  /// The smallest size TurboJPEG can decode to that is not below the one wanted.
  private static func decoded(
    _ width: Int32, _ height: Int32, atLeast wanted: Size
  ) -> (width: Int32, height: Int32) {
    var best = (width: width, height: height)
    var count: Int32 = 0
    guard let factors = tjGetScalingFactors(&count) else { return best }
    for index in 0..<Int(count) {
      let size = (
        width: strata_tj_scaled(width, factors[index]),
        height: strata_tj_scaled(height, factors[index])
      )
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

  private static func message(_ handle: tjhandle) -> String {
    tjGetErrorStr2(handle).map { String(cString: $0) } ?? "unknown"
  }
}
