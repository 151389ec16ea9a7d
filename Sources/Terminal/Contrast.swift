#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Color {
  /// How well this colour is read on another, from 1 to 21, as WCAG 2 reckons it; `nil` where one of
  /// them is the terminal's own, which nobody knows.
  package func contrast(on background: Color) -> Double? {
    guard let own = luminance, let other = background.luminance else { return nil }
    return (max(own, other) + 0.05) / (min(own, other) + 0.05)
  }

  /// From 0 for black to 1 for white.
  package var luminance: Double? {
    components.map { red, green, blue in
      0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }
  }

  private static func linear(_ component: Int) -> Double {
    let value = Double(component) / 255
    return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }
}
