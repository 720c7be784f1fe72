#include "tests/oracle/operations/norm_machines.hpp"

namespace tally::oracle::operations::norm_gradients_test {
namespace {

constexpr double eps = 1e-5;
using Random = std::mt19937_64;

/// Batches [images, channels, places] and what a batch norm has for each channel.
struct Batch {
  static constexpr std::int64_t images = 3, channels = 4, places = 7, n = images * places;
  static constexpr std::int64_t count = images * channels * places;
  static std::int64_t at(std::int64_t channel, std::int64_t i) {
    return (i / places * channels + channel) * places + i % places;
  }
  static Floats channel(const Numbers& x, std::int64_t of) {
    Floats values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(x[static_cast<std::size_t>(at(of, i))]));
    return values;
  }
  static View view(const Numbers& x, Element element) { return tensor({images, channels, places}, x, element); }
};

TEST(BatchNormRules, HoldTrainingWithItsRunningStatistics) {
  Random random(1);
  Held training, inference;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const NormWay& way : norm_ways)
        for (const bool cudnn : {false, true}) {
          const Numbers x = drawn(data, Batch::count, element, random), w = drawn(Batch::channels, random),
                        b = drawn(Batch::channels, random);
          const Numbers old_mean = drawn(Batch::channels, random);
          Numbers old_var = drawn(Batch::channels, random);
          for (double& each : old_var) each = std::fabs(each);
          Floats y(static_cast<std::size_t>(Batch::count)), evaluated(y), means, rstds, new_mean, new_var;
          for (std::int64_t c = 0; c < Batch::channels; ++c) {
            const auto k = static_cast<std::size_t>(c);
            const Floats values = Batch::channel(x, c);
            const NormStatistics s(values, static_cast<float>(eps), way, random);
            NormStatistics running = s;
            running.mean = static_cast<float>(old_mean[k]);
            running.var = static_cast<float>(old_var[k]);
            running.rstd = 1 / std::sqrt(running.var + static_cast<float>(eps));
            means.push_back(s.mean);
            rstds.push_back(s.rstd);
            const float unbiased = s.var * (static_cast<float>(Batch::n) / (Batch::n - 1));
            new_mean.push_back(0.1f * s.mean + (1 - 0.1f) * running.mean);
            new_var.push_back(way.folds ? std::fma(0.1f, unbiased, 0.9f * running.var)
                                        : 0.1f * unbiased + 0.9f * running.var);
            for (std::int64_t i = 0; i < Batch::n; ++i) {
              const auto at = static_cast<std::size_t>(Batch::at(c, i));
              const auto wi = static_cast<float>(w[k]), bi = static_cast<float>(b[k]);
              y[at] = normed(values[static_cast<std::size_t>(i)], s, wi, bi, way);
              evaluated[at] = normed(values[static_cast<std::size_t>(i)], running, wi, bi, way);
            }
          }
          const auto single = [](const Floats& of) { return vector_of(stored(Element::float32, of)); };
          Arguments arguments{{"input", Batch::view(x, element)},
                              {"weight", vector_of(w)},
                              {"bias", vector_of(b)},
                              {"running_mean", vector_of(old_mean)},
                              {"running_var", vector_of(old_var)},
                              {"training", true},
                              {cudnn ? "epsilon" : "eps", eps},
                              {cudnn ? "exponential_average_factor" : "momentum", 0.1}};
          const char* name = cudnn ? "cudnn_batch_norm" : "native_batch_norm";
          const std::vector<Argument> out{Batch::view(stored(element, y), element), single(means), single(rstds)};
          training.add(
              call_of(name, arguments, out, {{"running_mean", single(new_mean)}, {"running_var", single(new_var)}}));
          if (data == Data::normal) {  // the biased variance; the new one's share
            for (std::size_t c = 0; c < new_var.size(); ++c) new_var[c] -= 0.1f / (rstds[c] * rstds[c]) / Batch::n;
            expect_caught(call_of(name, arguments, out, {{"running_var", single(new_var)}}));
            for (std::size_t c = 0; c < new_var.size(); ++c)
              new_mean[c] = 0.9f * means[c] + 0.1f * static_cast<float>(old_mean[c]);
            expect_caught(call_of(name, arguments, out, {{"running_mean", single(new_mean)}}));
          }
          arguments["training"] = false;
          inference.add(call_of(name, arguments, {Batch::view(stored(element, evaluated), element)}));
          if (data == Data::normal) expect_caught(call_of(name, arguments, {out[0]}));
        }
  training.report("batch_norm in training");
  inference.report("batch_norm in inference");
}

TEST(BatchNormRules, HoldGradients) {
  Random random(2);
  Held training, inference;
  for (const Data data : kinds)
    for (const NormWay& way : norm_ways)
      for (const bool trains : {true, false}) {
        const Element element = Element::float32;
        const Numbers x = drawn(data == Data::huge ? Data::normal : data, Batch::count, element, random),
                      g = drawn(data == Data::far_from_zero ? Data::normal : data, Batch::count, element, random),
                      w = drawn(Batch::channels, random);
        Floats dx(static_cast<std::size_t>(Batch::count)), means, rstds, vars, dw, db;
        for (std::int64_t c = 0; c < Batch::channels; ++c) {
          const Floats values = Batch::channel(x, c), gradients = Batch::channel(g, c);
          const NormStatistics s(values, static_cast<float>(eps), way, random);
          means.push_back(s.mean);
          rstds.push_back(s.rstd);
          vars.push_back(s.var);
          const auto wc = static_cast<float>(w[static_cast<std::size_t>(c)]);
          Floats own = norm_gradient(values, gradients, Floats(values.size(), wc), s.mean, s.rstd, way, random),
                 products;
          for (std::size_t i = 0; i < values.size(); ++i) {
            products.push_back(gradients[i] * (values[i] - s.mean));
            if (!trains) own[i] = way.folds ? gradients[i] * (s.rstd * wc) : gradients[i] * s.rstd * wc;
            dx[static_cast<std::size_t>(Batch::at(c, static_cast<std::int64_t>(i)))] = own[i];
          }
          dw.push_back(added_up(products, way.order, random) * s.rstd);
          db.push_back(added_up(gradients, way.order, random));
        }
        const auto single = [](const Floats& of) { return vector_of(stored(Element::float32, of)); };
        Arguments arguments{{"grad_out", Batch::view(g, element)},
                            {"input", Batch::view(x, element)},
                            {"weight", vector_of(w)},
                            {"running_mean", single(means)},
                            {"running_var", single(vars)},
                            {"save_mean", single(means)},
                            {"save_invstd", single(rstds)},
                            {"train", trains},
                            {"eps", eps}};
        const std::vector<Argument> out{Batch::view(stored(element, dx), element), single(dw), single(db)};
        (trains ? training : inference).add(call_of("native_batch_norm_backward", arguments, out));
        if (data != Data::normal) continue;
        arguments["train"] = !trains;
        expect_caught(call_of("native_batch_norm_backward", arguments, out));
        Floats other = dw;
        for (std::size_t c = 0; c < other.size(); ++c) other[c] /= rstds[c];
        expect_caught(call_of("native_batch_norm_backward", arguments, {Argument(), single(other), single(db)}));
        if (!trains) continue;
        const Arguments cudnn{{"grad_output", Batch::view(g, element)},
                              {"input", Batch::view(x, element)},
                              {"weight", vector_of(w)},
                              {"save_mean", single(means)},
                              {"save_var", single(rstds)},
                              {"epsilon", eps}};
        training.add(call_of("cudnn_batch_norm_backward", cudnn, out));
      }
  training.report("batch_norm_backward in training");
  inference.report("batch_norm_backward in inference");
}

TEST(LayerNormRules, HoldGradientsInEitherGrouping) {
  Random random(3);
  Held held;
  const std::int64_t rows = 5;
  for (const Element element : formats)
    for (const Data data : kinds)
      for (const NormWay& way : norm_ways)
        for (const std::int64_t n : {1, 2, 4, 40}) {
          const Numbers x = drawn(data == Data::huge ? Data::normal : data, rows * n, element, random),
                        g = drawn(data == Data::far_from_zero ? Data::normal : data, rows * n, element, random),
                        w = drawn(n, random, element);
          Floats dx, means, rstds, missing, dw, db;
          std::vector<Floats> columns(static_cast<std::size_t>(n)), sums(columns);
          for (std::int64_t row = 0; row < rows; ++row) {
            const Floats values(x.begin() + row * n, x.begin() + (row + 1) * n),
                own(g.begin() + row * n, g.begin() + (row + 1) * n);
            const NormStatistics s(values, static_cast<float>(eps), way, random);
            means.push_back(s.mean);
            rstds.push_back(s.rstd);
            const Floats gradient = norm_gradient(values, own, floats(w), s.mean, s.rstd, way, random);
            dx.insert(dx.end(), gradient.begin(), gradient.end());
            for (std::size_t i = 0; i < values.size(); ++i) {
              missing.push_back(s.rstd * own[i] * static_cast<float>(w[i]));
              columns[i].push_back(way.folds ? own[i] * (s.rstd * values[i] + -s.rstd * s.mean)
                                             : own[i] * (values[i] - s.mean) * s.rstd);
              sums[i].push_back(own[i]);
            }
          }
          for (std::size_t i = 0; i < columns.size(); ++i) {
            dw.push_back(added_up(columns[i], way.order, random));
            db.push_back(added_up(sums[i], way.order, random));
          }
          const auto single = [](const Floats& of) { return vector_of(stored(Element::float32, of)); };
          const auto in = [&](const Floats& of) { return vector_of(stored(element, of), element); };
          const Arguments arguments{{"grad_out", tensor({rows, n}, g, element)},
                                    {"input", tensor({rows, n}, x, element)},
                                    {"normalized_shape", Sizes{n}},
                                    {"mean", single(means)},
                                    {"rstd", single(rstds)},
                                    {"weight", vector_of(w, element)}};
          const View out = tensor({rows, n}, stored(element, dx), element);
          held.add(call_of("native_layer_norm_backward", arguments, {out, in(dw), in(db)}));
          if (data != Data::normal || n < 4) continue;
          expect_caught(
              call_of("native_layer_norm_backward", arguments, {tensor({rows, n}, stored(element, missing), element)}));
          expect_caught(call_of("native_layer_norm_backward", arguments, {out, in(db), in(db)}));
        }
  held.report("native_layer_norm_backward");
}

}  // namespace
}  // namespace tally::oracle::operations::norm_gradients_test
