import CPictures
import Terminal
import Testing

@testable import Images

@Suite(
  "Pictures",
  .enabled(
    if: PNGLibrary.installed != nil && TurboJPEGLibrary.installed != nil,
    "libpng or libturbojpeg is not installed"))
struct ImageTests {
  /// Four quarters: red, green over blue, white.
  private static func quarters(_ width: Int, _ height: Int) -> [UInt8] {
    var pixels: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        switch (x < width / 2, y < height / 2) {
        case (true, true): pixels += [255, 0, 0, 255]
        case (false, true): pixels += [0, 255, 0, 255]
        case (true, false): pixels += [0, 0, 255, 255]
        case (false, false): pixels += [255, 255, 255, 255]
        }
      }
    }
    return pixels
  }

  static func png(_ width: Int, _ height: Int) throws -> [UInt8] {
    typealias Write =
      @convention(c) (
        PNGLibrary.Image, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>, Int32,
        UnsafePointer<UInt8>, Int32, UnsafeRawPointer?
      ) -> Int32
    let write: Write = try #require(PNGLibrary.library?.function("png_image_write_to_memory"))
    var image = strata_png_image()
    image.version = 1
    image.width = UInt32(width)
    image.height = UInt32(height)
    image.format = PNGLibrary.rgba
    var bytes = [UInt8](repeating: 0, count: width * height * 8 + 10_000)
    var count = bytes.count
    let pixels = quarters(width, height)
    try #require(write(&image, &bytes, &count, 0, pixels, 0, nil) != 0)
    return Array(bytes.prefix(count))
  }

  /// TJFLAG_PROGRESSIVE
  private static let progressive: Int32 = 16384

  static func jpeg(_ width: Int, _ height: Int, flags: Int32 = 0) throws -> [UInt8] {
    typealias Compress =
      @convention(c) (
        TurboJPEGLibrary.Handle, UnsafePointer<UInt8>, Int32, Int32, Int32, Int32,
        UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<UInt>, Int32,
        Int32,
        Int32
      ) -> Int32
    typealias Free = @convention(c) (UnsafeMutablePointer<UInt8>?) -> Void
    let library = try #require(TurboJPEGLibrary.library)
    let start: TurboJPEGLibrary.Start = try #require(library.function("tjInitCompress"))
    let compress: Compress = try #require(library.function("tjCompress2"))
    let free: Free = try #require(library.function("tjFree"))
    let handle = try #require(start())
    defer { _ = TurboJPEGLibrary.installed?.destroy(handle) }
    var buffer: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    defer { free(buffer) }
    let pixels = quarters(width, height)
    // 4:4:4, quality 95.
    try #require(
      compress(
        handle, pixels, Int32(width), 0, Int32(height), TurboJPEGLibrary.rgba, &buffer, &count, 0,
        95, flags) == 0)
    return Array(UnsafeBufferPointer(start: buffer, count: Int(count)))
  }

  /// The colours of the four corners, each channel as 0 or 1.
  private static func corners(_ raster: Raster) -> [[Int]] {
    [
      (0, 0), (raster.width - 1, 0), (0, raster.height - 1),
      (raster.width - 1, raster.height - 1),
    ].map { x, y in
      let index = (y * raster.width + x) * 4
      return raster.pixels[index..<(index + 3)].map { $0 > 127 ? 1 : 0 }
    }
  }

  private static let upright = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]

  @Test("a PNG and a JPEG come smaller, their shape and colours kept")
  func scaling() throws {
    let limit = Size(width: 40, height: 40)
    for bytes in [try Self.png(400, 200), try Self.jpeg(400, 200)] {
      let raster = try ImageDecoder.decode(bytes, fitting: limit)
      #expect((raster.width, raster.height) == (40, 20))
      #expect(Self.corners(raster) == Self.upright)
    }
    // A picture is not made larger.
    let small = try ImageDecoder.decode(Self.png(6, 4), fitting: limit)
    #expect((small.width, small.height) == (6, 4))
    let line = try ImageDecoder.decode(Self.png(400, 2), fitting: limit)
    #expect((line.width, line.height) == (40, 1))
  }

  @Test("what is transparent has no colour")
  func transparency() throws {
    let pixels: [UInt8] = [255, 0, 0, 0, 0, 0, 255, 255, 255, 0, 0, 0, 0, 0, 255, 255]
    let raster = try Raster.scaled(pixels, width: 2, height: 2, to: Size(width: 1, height: 1))
    #expect(raster.pixels == [0, 0, 255, 127])
  }

  /// A JPEG with an EXIF segment that says how the camera was held.
  private static func oriented(_ number: UInt8) throws -> [UInt8] {
    let tiff: [UInt8] =
      [
        0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, number, 0, 0, 0, 0, 0,
        0,
      ]
    let content = Array("Exif\0\0".utf8) + tiff
    let length = content.count + 2
    let segment = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + content
    let jpeg = try jpeg(64, 32)
    return Array(jpeg.prefix(2)) + segment + jpeg.dropFirst(2)
  }

  @Test("a camera that was turned is turned back")
  func orientation() throws {
    // Where the stored red, green, blue and white corners are seen.
    let seen: [(UInt8, Int, [[Int]])] = [
      (1, 64, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]),
      (2, 64, [[0, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 1]]),
      (3, 64, [[1, 1, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0]]),
      (4, 64, [[0, 0, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0]]),
      (5, 32, [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1]]),
      (6, 32, [[0, 0, 1], [1, 0, 0], [1, 1, 1], [0, 1, 0]]),
      (7, 32, [[1, 1, 1], [0, 1, 0], [0, 0, 1], [1, 0, 0]]),
      (8, 32, [[0, 1, 0], [1, 1, 1], [1, 0, 0], [0, 0, 1]]),
      (9, 64, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]),
    ]
    for (number, width, corners) in seen {
      let raster = try ImageDecoder.decode(
        Self.oriented(number), fitting: Size(width: 64, height: 64))
      #expect(raster.width == width, "\(number)")
      #expect(Self.corners(raster) == corners, "\(number)")
    }
  }

  @Test("other bytes, headers of too many pixels and cut files are errors")
  func refused() throws {
    let limit = Size(width: 10, height: 10)
    func error(_ bytes: [UInt8]) -> ImageError? {
      do throws(ImageError) {
        _ = try ImageDecoder.decode(bytes, fitting: limit)
        return nil
      } catch { return error }
    }
    #expect(error([]) == .unknownFormat)
    #expect(error(Array("GIF89a".utf8)) == .unknownFormat)
    #expect(error([0xFF, 0xD8]) != nil)
    #expect(error([0x89, 0x50, 0x4E, 0x47]) != nil)
    #expect(error(Array(try Self.png(40, 40).prefix(60))) != nil)
    // A JPEG that ends early is shown as far as it goes.
    let jpeg = try Self.jpeg(100, 100)
    #expect(error(Array(jpeg.prefix(jpeg.count - 40))) == nil)
    var huge = jpeg
    let frame = try #require((2..<jpeg.count).first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
    huge.replaceSubrange((frame + 5)..<(frame + 9), with: [0xFF, 0x00, 0xFF, 0x00])
    #expect(error(huge) == .tooLarge(width: 0xFF00, height: 0xFF00))
    #expect(error(try Self.png(4, 4)) == nil)
    #expect(
      try ImageDecoder.decode(Self.png(4, 4), fitting: Size(width: 1, height: 1)).pixels.count == 4)
    #expect(error(try Self.png(4, 4).dropLast(1) + []) == nil)
  }

  @Test("thousands of damaged pictures end in a raster or an error")
  func fuzz() throws {
    let seed: UInt64 = 20_261_121
    var state = seed
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % max(1, count)
    }
    let corpus = [
      try Self.png(24, 16), try Self.jpeg(24, 16), try Self.jpeg(24, 16, flags: Self.progressive),
      try Self.oriented(6),
    ]
    var shown = 0
    for _ in 0..<4_000 {
      var bytes = corpus[random(corpus.count)]
      for _ in 0...random(6) {
        switch random(4) {
        case 0 where !bytes.isEmpty: bytes.removeLast(random(bytes.count))
        case 1: bytes.insert(UInt8(random(256)), at: random(bytes.count + 1))
        default: if !bytes.isEmpty { bytes[random(bytes.count)] = UInt8(random(256)) }
        }
      }
      // A damaged header may ask for much; the time belongs to the others.
      if bytes.count > 24, bytes[1] == 0x50, bytes[16] > 0 || bytes[20] > 0 { continue }
      do throws(ImageError) {
        let raster = try ImageDecoder.decode(bytes, fitting: Size(width: 12, height: 12))
        #expect(raster.width <= 12 && raster.height <= 12, "seed \(seed)")
        shown += 1
      } catch {}
    }
    #expect(shown > 100)
  }
}

@Suite("Libraries that may not be there")
struct SharedLibraryTests {
  @Test("one that is not installed is none, and the next name is tried")
  func names() throws {
    #expect(SharedLibrary(["libnothing-of-the-kind.so"]) == nil)
    let library = try #require(SharedLibrary(["libnothing-of-the-kind.so", Self.system]))
    let length: (@convention(c) (UnsafePointer<CChar>) -> Int)? = library.function("strlen")
    #expect(length?("four") == 4)
    let none: (@convention(c) () -> Void)? = library.function("no_function_of_the_kind")
    #expect(none == nil)
  }

  @Test("a picture whose library is missing says which")
  func told() {
    #expect(
      ImageError.notInstalled("libpng").description
        == "pictures of this kind are shown where libpng is installed")
  }

  #if canImport(Darwin)
    private static let system = "/usr/lib/libSystem.B.dylib"
  #else
    private static let system = "libc.so.6"
  #endif
}
