import CPNG
import Terminal

/// PNG through libpng's simplified API, which reads from memory and returns instead of jumping.
enum PNGImage {
  static func decode(_ bytes: [UInt8], fitting limit: Size) throws(ImageError) -> Raster {
    var image = png_image()
    // Not `defer` after a failure only: libpng may hold memory from the first call on.
    defer { png_image_free(&image) }
    var pixels: [UInt8] = []
    let failure = bytes.withUnsafeBytes { source -> ImageError? in
      guard strata_png_begin(&image, source.baseAddress, source.count) != 0 else {
        return .damaged(message(image))
      }
      let (width, height) = (Int(image.width), Int(image.height))
      do throws(ImageError) {
        try ImageDecoder.check(width: width, height: height)
      } catch {
        return error
      }
      pixels = [UInt8](repeating: 0, count: width * height * 4)
      let isRead = pixels.withUnsafeMutableBytes { strata_png_read(&image, $0.baseAddress) }
      return isRead != 0 ? nil : .damaged(message(image))
    }
    if let failure { throw failure }
    let (width, height) = (Int(image.width), Int(image.height))
    return try Raster.scaled(
      pixels, width: width, height: height, to: Raster.size(of: width, height, fitting: limit))
  }

  private static func message(_ image: png_image) -> String {
    withUnsafeBytes(of: image.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
