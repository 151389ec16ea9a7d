/// A picture of plain pixels, small enough to show.
package struct Raster: Sendable, Equatable {
  /// Pixels across.
  package let width: Int
  /// Pixels down.
  package let height: Int
  /// Row by row, four bytes a pixel: red, green, blue, alpha.
  package let pixels: [UInt8]

  /// `nil` where the bytes are not those of so many pixels.
  package init?(width: Int, height: Int, pixels: [UInt8]) {
    guard width > 0, height > 0, width <= 1 << 20, height <= 1 << 20,
      pixels.count == width * height * 4
    else { return nil }
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// The colour of a pixel over a background, as a terminal of that depth shows it; `nil` outside
  /// the picture.
  func color(
    _ x: Int, _ y: Int, over background: (UInt8, UInt8, UInt8), depth: ColorDepth
  ) -> Color? {
    guard x >= 0, x < width, y >= 0, y < height else { return nil }
    let index = (y * width + x) * 4
    let alpha = Int(pixels[index + 3])
    func mixed(_ value: UInt8, _ behind: UInt8) -> Int {
      (Int(value) * alpha + Int(behind) * (255 - alpha)) / 255
    }
    let (red, green, blue) = (
      mixed(pixels[index], background.0), mixed(pixels[index + 1], background.1),
      mixed(pixels[index + 2], background.2)
    )
    if depth == .trueColor { return .rgb(UInt8(red), UInt8(green), UInt8(blue)) }
    return .indexed(Self.indexed(red, green, blue))
  }

  /// The nearest of the 256 colours beyond the first 16, found without trying all.
  static func indexed(_ red: Int, _ green: Int, _ blue: Int) -> UInt8 {
    // The cube's steps are 0, 95, 135, 175, 215, 255.
    func step(_ value: Int) -> Int { value < 48 ? 0 : min(5, max(1, (value - 35) / 40)) }
    func level(_ step: Int) -> Int { step == 0 ? 0 : 55 + 40 * step }
    let steps = (step(red), step(green), step(blue))
    let grey = min(23, max(0, ((red + green + blue) / 3 - 3) / 10))
    func distance(_ r: Int, _ g: Int, _ b: Int) -> Int {
      3 * (red - r) * (red - r) + 4 * (green - g) * (green - g) + 2 * (blue - b) * (blue - b)
    }
    let shade = 8 + 10 * grey
    let isGrey =
      distance(shade, shade, shade)
      < distance(level(steps.0), level(steps.1), level(steps.2))
    return UInt8(isGrey ? 232 + grey : 16 + 36 * steps.0 + 6 * steps.1 + steps.2)
  }

  /// The size in pixels, not above the own, that keeps the shape and fits so many.
  package static func size(
    of width: Int, _ height: Int, fitting limit: Size
  ) -> Size {
    guard width > 0, height > 0, limit.width > 0, limit.height > 0 else {
      return Size(width: 0, height: 0)
    }
    let scale = min(
      1, Double(limit.width) / Double(width), Double(limit.height) / Double(height))
    return Size(
      width: max(1, min(limit.width, Int((Double(width) * scale).rounded()))),
      height: max(1, min(limit.height, Int((Double(height) * scale).rounded()))))
  }

  /// Rows of cells that the picture takes: each shows two pixels above each other.
  package var rows: Int { (height + 1) / 2 }

  /// A row of cells: two rows of pixels above each other, as upper half blocks.
  ///
  /// - Parameter depth: 256 colours at least; below, a picture says nothing.
  package func spans(row: Int, depth: ColorDepth) -> [Span] {
    let black: (UInt8, UInt8, UInt8) = (0, 0, 0)
    var spans: [Span] = []
    for x in 0..<width {
      guard let upper = color(x, row * 2, over: black, depth: depth) else { break }
      let style =
        color(x, row * 2 + 1, over: black, depth: depth).map { Style(upper, on: $0) }
        ?? Style(upper)
      // Cells of one look are one piece.
      if spans.last?.style == style {
        spans[spans.count - 1].text += "▀"
      } else {
        spans.append(Span("▀", style))
      }
    }
    return spans
  }
}
