import CPictures
import Terminal

/// PNG through libpng's simplified API, which reads from memory and returns instead of jumping.
enum PNGImage {
  static func decode(_ bytes: [UInt8], fitting limit: Size) throws(ImageError) -> Raster {
    guard let png = PNGLibrary.installed else { throw .notInstalled("libpng") }
    var image = strata_png_image()
    image.version = 1
    // Not `defer` after a failure only: libpng may hold memory from the first call on.
    defer { png.free(&image) }
    var pixels: [UInt8] = []
    let failure = bytes.withUnsafeBytes { source -> ImageError? in
      guard png.begin(&image, source.baseAddress, source.count) != 0 else {
        return .damaged(message(image))
      }
      let (width, height) = (Int(image.width), Int(image.height))
      do throws(ImageError) {
        try ImageDecoder.check(width: width, height: height)
      } catch {
        return error
      }
      pixels = [UInt8](repeating: 0, count: width * height * 4)
      image.format = PNGLibrary.rgba
      let isRead = pixels.withUnsafeMutableBytes {
        png.finish(&image, nil, $0.baseAddress, 0, nil)
      }
      return isRead != 0 ? nil : .damaged(message(image))
    }
    if let failure { throw failure }
    let (width, height) = (Int(image.width), Int(image.height))
    return try Raster.scaled(
      pixels, width: width, height: height, to: Raster.size(of: width, height, fitting: limit))
  }

  private static func message(_ image: strata_png_image) -> String {
    withUnsafeBytes(of: image.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

/// What is called of libpng's simplified API, whose calls return instead of jumping.
struct PNGLibrary: Sendable {
  typealias Image = UnsafeMutablePointer<strata_png_image>
  typealias Begin = @convention(c) (Image, UnsafeRawPointer?, Int) -> Int32
  typealias Finish =
    @convention(c) (
      Image, UnsafeRawPointer?, UnsafeMutableRawPointer?, Int32, UnsafeMutableRawPointer?
    ) -> Int32
  typealias Free = @convention(c) (Image) -> Void

  /// png_image_begin_read_from_memory
  let begin: Begin
  /// png_image_finish_read
  let finish: Finish
  /// png_image_free
  let free: Free

  /// PNG_FORMAT_RGBA
  static let rgba: UInt32 = 3

  /// By the name that programs link, and by that which comes with its headers.
  static let library = SharedLibrary([
    "libpng16.so.16", "libpng16.so", "libpng16.16.dylib", "/opt/homebrew/lib/libpng16.16.dylib",
  ])

  /// `nil` where the library is not installed.
  static let installed = PNGLibrary()

  private init?() {
    guard let library = Self.library,
      let begin: Begin = library.function("png_image_begin_read_from_memory"),
      let finish: Finish = library.function("png_image_finish_read"),
      let free: Free = library.function("png_image_free")
    else { return nil }
    (self.begin, self.finish, self.free) = (begin, finish, free)
  }
}
