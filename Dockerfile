# The session server in a container: small, without root, with nothing to write but its state. docs/install.md says how to use it.
FROM node:22-bookworm-slim AS build
ARG COMMIT=
ENV PARLEY_COMMIT=$COMMIT
WORKDIR /build
COPY package.json package-lock.json rolldown.config.ts tsconfig.base.json README.md LICENSE CHANGELOG.md ./
COPY bin bin
COPY docs docs
COPY scripts scripts
COPY src src
# The cache knows a bundle by its time, of which a layer of the image keeps whole seconds.
RUN npm ci \
  && npm pack --ignore-scripts \
  && npm install --global --prefix /opt/parley --ignore-scripts ./*.tgz \
  && node /opt/parley/lib/node_modules/@parley-sessions/parley/bin/prune-binaries.mjs \
  && find /opt/parley -path '*/dist/chunks/*' -exec touch --date=@1 {} + \
  && node /opt/parley/lib/node_modules/@parley-sessions/parley/bin/make-code-cache.mjs

FROM node:22-bookworm-slim
COPY --from=build /opt/parley /opt/parley
RUN install -d -o node -g node -m 0700 /state && install -d -o node -g node /work
ENV PATH=/opt/parley/bin:$PATH PARLEY_HOME=/state
USER node
WORKDIR /work
VOLUME /state
# It asks the server that runs here and never starts one.
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s CMD ["parley", "status", "--json"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["parley"]
CMD ["serve"]
