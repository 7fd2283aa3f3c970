# The image of gates that run in a cluster: one static binary and the
# certificates of public authorities. No shell, no git, no root.
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/kubectl-changeward ./kubectl-changeward

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/kubectl-changeward /kubectl-changeward
USER 65532:65532
ENTRYPOINT ["/kubectl-changeward"]
